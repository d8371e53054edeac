import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

/* Everything is served by impound itself: names are relative, nothing is inlined into the page (its
   Content-Security-Policy would refuse it), and the charts come when a page first wants them. */
export default defineConfig({
  base: "./",
  plugins: [svelte()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        entryFileNames: "assets/app-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
});
