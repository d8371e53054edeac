/* Numbers, sizes, ages and times as people read them. */
import type { Clock } from "./settings.svelte";

const SECOND_MS = 1000;
const MINUTE_S = 60;
const HOUR_S = 3600;
const DAY_S = 86400;

export function count(n: number | null | undefined): string {
  return n == null ? "–" : n.toLocaleString("en");
}

/* 12,345 → "12.3k": where room is short. */
export function short(n: number): string {
  return new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(n).toLowerCase();
}

export function percent(ratio: number): string {
  return `${Math.round(ratio * 100)}%`;
}

/* A part of a whole, for reading: what is there at all is not "0%". */
export function share(ratio: number): string {
  return ratio > 0 && ratio < 0.005 ? "< 1%" : percent(ratio);
}

export function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) {
    bytes /= 1024;
    unit++;
  }
  return `${unit === 0 ? bytes : bytes.toFixed(1)} ${units[unit]}`;
}

/* Two units at most: "45 s", "12 min", "3 h 20 min", "4 d 2 h". */
export function age(seconds: number | null | undefined): string {
  if (seconds == null) return "–";
  const s = Math.max(0, Math.floor(seconds));
  const two = (large: number, one: string, rest: number, other: string) =>
    rest > 0 && large < 10 ? `${large} ${one} ${rest} ${other}` : `${large} ${one}`;
  if (s < 2 * MINUTE_S) return `${s} s`;
  if (s < 2 * HOUR_S) return `${Math.floor(s / MINUTE_S)} min`;
  if (s < 2 * DAY_S) return two(Math.floor(s / HOUR_S), "h", Math.floor((s % HOUR_S) / MINUTE_S), "min");
  return two(Math.floor(s / DAY_S), "d", Math.floor((s % DAY_S) / HOUR_S), "h");
}

export function delay(ms: number | null | undefined): string {
  if (ms == null) return "–";
  if (ms < SECOND_MS) return `${ms} ms`;
  return ms < 2 * MINUTE_S * SECOND_MS ? `${(ms / SECOND_MS).toFixed(ms < 10_000 ? 1 : 0)} s` : age(ms / SECOND_MS);
}

export function lastingOf(since: string, now: number): string {
  return age((now - Date.parse(since)) / SECOND_MS);
}

export function agoOf(time: string | null, now: number): string {
  return time === null ? "–" : `${lastingOf(time, now)} ago`;
}

/* "2026-11-15 03:12:44" in the clock that the reader chose. */
export function moment(time: string | null, clock: Clock, millis = false): string {
  if (time === null) return "–";
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return time;
  const shifted = clock === "utc" ? at : new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_S * SECOND_MS);
  return shifted
    .toISOString()
    .replace("T", " ")
    .slice(0, millis ? 23 : 19);
}

/* The times that the server wrote into a text, in the clock that the reader chose. */
export function withMoments(text: string, clock: Clock): string {
  return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time) => moment(time, clock) + (clock === "utc" ? " UTC" : ""));
}

/* "max_attempts:rate_limit" and "half_open" in words. */
export function words(text: string | null): string {
  return text === null ? "–" : text.replaceAll("_", " ").replace(":", ": ");
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/* What may be any bytes is a text, or an object with its base64. */
export function spelled(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export function clip(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
