/* JSON as people edit it. Numbers that the browser cannot hold are kept as they were written (ExactNumber). */
import { ExactNumber } from "./api";

export type Path = (string | number)[];
export interface Difference {
  path: Path;
  before?: unknown;
  after?: unknown;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

export function print(value: unknown, indent = ""): string {
  if (value instanceof ExactNumber) return value.text;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[\n${value.map((one) => inner + print(one, inner)).join(",\n")}\n${indent}]`;
  }
  if (isObject(value)) {
    const members = Object.entries(value);
    if (members.length === 0) return "{}";
    return `{\n${members.map(([name, one]) => `${inner}${JSON.stringify(name)}: ${print(one, inner)}`).join(",\n")}\n${indent}}`;
  }
  return JSON.stringify(value) ?? "null";
}

const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/* Throws what JSON.parse throws. */
export function parse(text: string): unknown {
  const keep = (_key: string, value: unknown, context?: { source: string }) =>
    typeof value === "number" && context && INTEGER.test(context.source) && !Number.isSafeInteger(value)
      ? new ExactNumber(context.source)
      : value;
  return JSON.parse(text, keep as (key: string, value: unknown) => unknown);
}

function same(before: unknown, after: unknown): boolean {
  return print(before) === print(after);
}

/* Member by member; arrays of another length are one change. */
export function differences(before: unknown, after: unknown, path: Path = []): Difference[] {
  if (same(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => {
      const here = [...path, name];
      if (!Object.hasOwn(after, name)) return [{ path: here, before: before[name] }];
      if (!Object.hasOwn(before, name)) return [{ path: here, after: after[name] }];
      return differences(before[name], after[name], here);
    });
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((one, place) => differences(one, after[place], [...path, place]));
  return [{ path, before, after }];
}

function jqPath(path: Path): string {
  if (path.length === 0) return ".";
  return path
    .map((step, place) => {
      const dot = place === 0 ? "." : "";
      if (typeof step === "number") return `${dot}[${step}]`;
      return /^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `${dot}[${JSON.stringify(step)}]`;
    })
    .join("");
}

export function pathText(path: Path): string {
  return jqPath(path);
}

/* A jq program that makes `after` of `before` and leaves every other byte as it is. */
export function programOf(before: unknown, after: unknown): string {
  return differences(before, after)
    .map((one) => ("after" in one ? `${jqPath(one.path)} = ${compact(one.after)}` : `del(${jqPath(one.path)})`))
    .join(" | ");
}

function compact(value: unknown): string {
  return print(value)
    .split("\n")
    .map((line) => line.trim())
    .join(" ");
}
