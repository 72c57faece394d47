// The list of the agent's calls, live.
import { el, find } from "./dom.js";
import { Sieve } from "./sieve.js";

/** @import { CallEvent, CallState, Edit, Issue, Outcome } from "./pkg/types.d.ts" */

/** The stages that are drawn, and the states that belong to each. */
const STAGES = /** @type {const} */ ([
  ["announced", ["announced", "waiting"]],
  ["authorised", ["authorised"]],
  ["validating", ["validating", "claiming", "guarding", "confirming"]],
  ["running", ["running", "elsewhere"]],
  ["settled", ["settled", "withdrawn"]],
]);

/**
 * @typedef {object} Row
 * @property {HTMLElement} item
 * @property {HTMLElement} summary
 * @property {HTMLElement} details
 * @property {number} started
 * @property {"open" | "ok" | "bad" | "withdrawn"} kind
 * @property {{ state: CallState, reason: string, at: number }[]} steps
 * @property {Edit[]} edits What a person or a guard changed, so far.
 */

export class Calls {
  /** @type {HTMLElement} */ #list;
  /** @type {HTMLElement} */ #empty;
  /** @type {HTMLElement} */ #said;
  /** @type {HTMLElement} */ #count;
  /** @type {Sieve} */ #sieve;
  /** @type {Map<string, Row>} */ #rows = new Map();

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#list = find(".call-list", root);
    this.#empty = find(".calls-empty", root);
    this.#said = find(".calls-said", root);
    this.#count = find(".count", root);
    this.#sieve = new Sieve(root);
    this.clear();
  }

  clear() {
    this.#rows.clear();
    this.#list.replaceChildren();
    this.#sieve.reset();
    this.#said.textContent = "";
    this.#recount();
  }

  /** @param {CallEvent} call */
  show(call) {
    const now = performance.now();
    const row = this.#rows.get(call.callId) ?? this.#begin(call.callId, now);
    if (call.edits !== undefined) row.edits.push(...call.edits);
    row.steps.push({ state: call.state, reason: call.reason, at: now - row.started });
    const kind = kindOf(call);
    const isAsking = call.state === "waiting" || call.state === "confirming";
    row.item.className = isAsking ? "call is-open is-asking" : `call is-${kind}`;
    row.kind = kind;
    row.summary.replaceChildren(...summary(call, row, kind));
    row.details.replaceChildren(...details(call, row));
    if (isAsking || call.state === "announced" || call.state === "settled" || call.state === "withdrawn") {
      this.#said.textContent = `${call.tool}: ${kind === "open" ? call.state : word(call)}`;
    }
    this.#recount();
  }

  /** @param {string} callId @param {number} started */
  #begin(callId, started) {
    // These stay while their content changes, so that an open row stays open and keeps the focus.
    const [summary, details] = [el("summary"), el("dl.call-details")];
    const item = el("li.call", {}, el("details", {}, summary, details));
    /** @type {Row} */
    const row = { item, summary, details, started, kind: "open", steps: [], edits: [] };
    this.#rows.set(callId, row);
    this.#list.prepend(item);
    return row;
  }

  #recount() {
    this.#empty.hidden = this.#rows.size > 0;
    this.#count.textContent = String(this.#rows.size);
    this.#sieve.count([...this.#rows.values()].map(({ kind }) => kind));
  }
}

/** @param {CallEvent} call */
function kindOf({ state, outcome }) {
  if (state === "withdrawn") return "withdrawn";
  if (state !== "settled") return "open";
  return outcome?.kind === "ok" ? "ok" : "bad";
}

/** How the call stands, in one word. @param {CallEvent} call */
function word({ state, outcome }) {
  return state === "settled" && outcome !== undefined ? outcome.kind : state;
}

/** @param {CallEvent} call @param {Row} row @param {string} kind */
function summary(call, row, kind) {
  const [now] = STAGES.findLast(([, states]) => /** @type {readonly string[]} */ (states).includes(call.state)) ?? ["announced"];
  const seen = new Set(row.steps.map(({ state }) => state));
  const stages = STAGES.map(([name, states]) => {
    const been = states.some((state) => seen.has(state));
    const classes = name === now ? ".is-now" : been ? ".is-past" : "";
    return el(`li${classes}`, { title: name, ...(name === now && { "aria-current": "step" }) }, el("span", { text: name }));
  });
  const took = row.steps.at(-1)?.at ?? 0;
  const parts = [
    el("code.call-tool", {}, call.tool || "(not known yet)", ...(row.edits.length > 0 ? [el("span.call-edited", { text: "edited" })] : [])),
    el("code.call-arguments", { text: brief(call.arguments) }),
    el("ol.stages", { "aria-label": "Stages" }, ...stages),
    el("code.call-word", { text: word(call) }),
    el("span.call-time", { text: kind === "open" ? "" : `${Math.round(took)} ms` }),
  ];
  const why = call.outcome && problem(call.outcome);
  if (why !== undefined) parts.push(el("span.call-problem", { text: why }));
  return parts;
}

/** @param {CallEvent} call @param {Row} row */
function details(call, row) {
  const steps = row.steps.map(({ state, reason, at }) => {
    const time = el("span.step-time", { text: `+${Math.round(at)} ms` });
    return el("li", {}, time, el("span", {}, el("strong", { text: state }), `, ${reason}`));
  });
  const given = row.edits.length > 0 ? [diff(row.edits)] : [];
  const parts = [...entry("Arguments", ...given, json(call.arguments ?? {}))];
  if (call.outcome !== undefined) parts.push(...entry("Outcome", json(call.outcome)));
  parts.push(...entry("Its life", el("ol.steps", {}, ...steps)));
  return parts;
}

/** @param {string} title @param {...HTMLElement} content */
const entry = (title, ...content) => [el("dt", { text: title }), el("dd", {}, ...content)];

/** What was changed: what the agent wanted, and what it was changed to. @param {Edit[]} edits */
function diff(edits) {
  const lines = edits.map(({ path, from, to }) => {
    const parts = [el("code", { text: path === "" ? "all" : path.slice(1).replaceAll("/", ".") })];
    if (from !== undefined) parts.push(el("del", { text: JSON.stringify(from) }));
    if (to !== undefined) parts.push(el("ins", { text: JSON.stringify(to) }));
    return el("li", {}, ...parts);
  });
  return el("ul.call-edits", { "aria-label": "Changed by a person" }, ...lines);
}

/** @param {unknown} value */
const json = (value) => el("pre", { text: JSON.stringify(value, null, 2), tabindex: "0" });

/** @param {unknown} given */
function brief(given) {
  if (typeof given !== "object" || given === null) return "";
  return Object.entries(given).map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(", ");
}

/** What went wrong, in a line. @param {Outcome} outcome @returns {string | undefined} */
export function problem(outcome) {
  switch (outcome.kind) {
    case "ok":
      return undefined;
    case "invalid_arguments":
    case "invalid_output":
      return outcome.issues.map(issueText).join("; ");
    case "missing_handler":
      return `The page has no tool ${outcome.tool}.`;
    case "timed_out":
      return `The page took longer than ${outcome.timeout} ms.`;
    default:
      return outcome.message;
  }
}

/** @param {Issue} issue */
function issueText({ path, message }) {
  return path === "" ? message : `${path.slice(1).replaceAll("/", ".")}: ${message}`;
}
