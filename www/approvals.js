// Questions to the visitor, as cards in the conversation: whether a call may run, and with which arguments.
import { PagehandError } from "./pkg/index.js";
import { el } from "./dom.js";
import { SchemaForm } from "./form.js";

/** @import { ApprovalRequest, Issue, PendingCall, Tool } from "./pkg/types.d.ts" */

/** @typedef {"agent" | "page"} Asker */

export class Approvals {
  /** @type {Set<Card>} */ #open = new Set();
  #page;

  /**
   * @param {object} page
   * @param {readonly Tool[]} page.tools
   * @param {(card: HTMLElement) => void} page.show Puts a card where the visitor reads.
   * @param {() => void} page.leave Takes the focus that a card had.
   * @param {(open: number) => void} page.count So many questions are open.
   */
  constructor(page) {
    this.#page = page;
  }

  /** @param {ApprovalRequest} request @param {Asker} asker */
  ask(request, asker) {
    const { tools, show, leave, count } = this.#page;
    const card = new Card(request, asker, tools, (hadFocus) => {
      this.#open.delete(card);
      count(this.#open.size);
      const [next] = this.#open;
      if (hadFocus && next !== undefined) next.focus();
      else if (hadFocus) leave();
    });
    this.#open.add(card);
    count(this.#open.size);
    show(card.element);
  }
}

class Card {
  /** @type {HTMLElement} */ element;
  /** @type {ApprovalRequest} */ #request;
  /** @type {SchemaForm | undefined} */ #form;
  /** @type {HTMLElement} */ #trouble = el("p.ask-trouble", { role: "alert", hidden: true });
  /** @type {any} */ #approve;
  /** @type {any} */ #reason;
  /** @type {any} */ #reject;
  /** What was answered here, if it was. */ #answer = "";
  #title;
  #closed;

  /**
   * @param {ApprovalRequest} request
   * @param {Asker} asker
   * @param {readonly Tool[]} tools
   * @param {(hadFocus: boolean) => void} closed
   */
  constructor(request, asker, tools, closed) {
    this.#request = request;
    this.#closed = closed;
    const { calls, signal } = request;
    this.#title = calls.map((call) => titleOf(call, tools)).join(", ");
    const id = `ask-${request.id}`;
    const [only] = calls;
    if (calls.length === 1 && only.editable) this.#form = new SchemaForm(schemaOf(only, tools), only.arguments);
    const who = asker === "page" ? "This page asks before it lets the agent do it" : "The agent asks before it goes on";
    this.element = el(
      "section.ask",
      { role: "group", "aria-labelledby": id, "data-asker": asker },
      el("p.ask-who", { text: who }),
      el("h3.ask-title", { id }, this.#title, " ", el("code", { text: calls.map(({ tool }) => tool).join(", ") })),
      ...calls.flatMap((call) => facts(call, this.#form === undefined)),
      this.#body(),
    );
    signal.addEventListener("abort", () => this.#end(String(signal.reason?.message ?? "")), { once: true });
  }

  /** The form and the ways to answer. */
  #body() {
    const id = `reason-${this.#request.id}`;
    this.#approve = el("button.button.is-main", { type: "submit", text: "Approve" });
    this.#reason = el("input", { id, type: "text", autocomplete: "off", maxlength: "300", placeholder: "Why not? (optional)" });
    this.#reject = el("button.button.is-no", { type: "button", text: "Reject", onclick: () => this.#no() });
    this.#reason.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      // Enter in the reason means this answer, and not the form's.
      event.preventDefault();
      this.#no();
    });
    const label = el("label.visually-hidden", { for: id, text: "Reason for rejecting, optional" });
    const parts = this.#form === undefined ? [] : [this.#form.element];
    const acts = el("div.ask-acts", {}, this.#approve, el("div.ask-no", {}, label, this.#reason, this.#reject));
    const form = el("form.ask-form", { novalidate: true }, ...parts, this.#trouble, acts);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#yes();
    });
    form.addEventListener("input", () => {
      this.#approve.textContent = this.#form?.changed ? "Approve with changes" : "Approve";
    });
    return form;
  }

  focus() {
    const first = this.element.querySelector("input, select, textarea, button");
    if (first instanceof HTMLElement) first.focus();
  }

  async #yes() {
    if (this.#answer !== "") return;
    const read = this.#form?.read();
    if (this.#form !== undefined && read === undefined) return;
    const edited = read?.changed === true;
    await this.#give(edited ? "approved, with changes" : "approved", () => this.#request.approve(edited ? { arguments: read.value } : {}));
  }

  async #no() {
    if (this.#answer !== "") return;
    const reason = this.#reason.value.trim();
    await this.#give(reason === "" ? "rejected" : `rejected: ${reason}`, () => this.#request.reject(reason || "the user said no"));
  }

  /** @param {string} answer @param {() => Promise<void>} send */
  async #give(answer, send) {
    this.#answer = answer;
    this.#busy(true);
    this.#trouble.hidden = true;
    try {
      await send();
      this.#end("");
    } catch (error) {
      const code = PagehandError.isInstance(error) ? error.code : "";
      this.#answer = code === "approval_answered" ? "answered elsewhere" : "";
      if (code === "approval_answered") return this.#end("");
      this.#busy(false);
      if (code === "invalid_edit") return this.#form?.show(issuesOf(error));
      this.#trouble.textContent = error instanceof Error ? error.message : String(error);
      this.#trouble.hidden = false;
    }
  }

  /** @param {boolean} is */
  #busy(is) {
    // Buttons that only look disabled keep the focus.
    for (const button of [this.#approve, this.#reject]) button.setAttribute("aria-disabled", String(is));
  }

  /** There is nothing left to answer: a line remembers the question. @param {string} reason */
  #end(reason) {
    if (this.element.classList.contains("is-over")) return;
    const hadFocus = this.element.contains(document.activeElement);
    const answer = this.#answer || `no longer asked${reason === "" ? "" : `: ${reason}`}`;
    const sign = answer.startsWith("approved") ? "✓" : answer.startsWith("rejected") ? "✕" : "–";
    const line = el("p", {}, el("span", { "aria-hidden": "true", text: `${sign} ` }), el("strong", { text: this.#title }), `, ${answer}`);
    this.element.replaceChildren(line);
    this.element.classList.add("is-over");
    this.element.dataset.answer = answer.split(/[,: ]/)[0];
    this.element.removeAttribute("aria-labelledby");
    this.#closed(hadFocus);
  }
}

/** What the agent and its server say about a call; and the arguments, where no form shows them. @param {PendingCall} call @param {boolean} bare */
function facts({ summary, risk, client, tool, arguments: given }, bare) {
  const parts = [];
  if (summary !== undefined) parts.push(el("p.ask-summary", { text: summary }));
  if (risk !== undefined && risk !== "UNKNOWN") parts.push(el("p.ask-risk", { "data-risk": risk, text: `Risk: ${risk.toLowerCase()}` }));
  if (!client) parts.push(el("p.ask-summary", { text: `${tool} is a tool of the server's.` }));
  if (bare) parts.push(el("pre", { text: JSON.stringify(given, null, 2), tabindex: "0" }));
  return parts;
}

/** @param {PendingCall} call @param {readonly Tool[]} tools */
function titleOf({ tool }, tools) {
  return tools.find(({ name }) => name === tool)?.annotations?.title ?? tool;
}

/** What an edit is checked against: the page's own schema, where it has the tool. @param {PendingCall} call @param {readonly Tool[]} tools */
function schemaOf({ tool, schema }, tools) {
  return tools.find(({ name }) => name === tool)?.inputSchema ?? schema ?? {};
}

/** @param {unknown} error @returns {Issue[]} */
function issuesOf(error) {
  return PagehandError.isInstance(error) ? /** @type {any} */ (error.details)?.issues ?? [] : [];
}
