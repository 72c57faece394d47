// What an agent says. Where it quotes a result as JSON, on a line of its own, that is shown as the data it is.
import { el } from "./dom.js";

/** @param {string} text @returns {HTMLElement[]} */
export function paragraphs(text) {
  /** @type {(string | HTMLElement)[]} */
  const parts = [""];
  for (const line of text.split("\n")) {
    const data = dataOf(line);
    const last = parts.at(-1);
    if (data !== undefined) parts.push(shown(data), "");
    else parts[parts.length - 1] = last === "" ? line : `${last}\n${line}`;
  }
  const filled = parts.filter((part) => part !== "");
  return (filled.length > 0 ? filled : [""]).map((part) => (typeof part === "string" ? el("p", { text: part }) : part));
}

/** @param {string} line */
function dataOf(line) {
  if (!/^\s*\{.*\}\s*$/.test(line)) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** @param {Record<string, unknown>} data */
function shown(data) {
  const entries = Object.entries(data);
  const [first] = entries;
  // A result that is one list needs no heading.
  if (entries.length === 1 && isList(first[1])) return listed(first[1]);
  const rows = entries.flatMap(([name, value]) => [el("dt", { text: name }), el("dd", {}, valueOf(value))]);
  return el("dl.quoted", {}, ...rows);
}

/** @param {unknown} value @returns {HTMLElement | string} */
function valueOf(value) {
  if (isList(value)) return listed(value);
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value);
  const entries = Object.entries(value);
  const isFlat = entries.every(([, part]) => typeof part !== "object" || part === null);
  // The last level is a line: a task takes no more room than a sentence.
  if (isFlat) return entries.map(([name, part]) => `${name}: ${typeof part === "string" ? part : JSON.stringify(part)}`).join(", ");
  return el("dl", {}, ...entries.flatMap(([name, part]) => [el("dt", { text: name }), el("dd", {}, valueOf(part))]));
}

/** @param {unknown} value @returns {value is string[]} */
const isList = (value) => Array.isArray(value) && value.every((item) => typeof item === "string");

/** @param {string[]} items */
const listed = (items) => el("ol.quoted", {}, ...items.map((text) => el("li", { text })));
