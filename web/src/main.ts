import "./app.css";
import { mount } from "svelte";
import App from "./App.svelte";
import { applyTheme } from "./lib/settings.svelte";

applyTheme();
mount(App, { target: document.body });
