// The conversation, as the visitor reads and writes it.
import { paragraphs } from "./data.js";
import { el, find } from "./dom.js";

/** @import { DeltaEvent, MessageEvent_ } from "./pkg/types.d.ts" */

export class Chat {
  /** @type {HTMLElement} */ #log;
  /** @type {HTMLFormElement} */ #form;
  /** @type {HTMLTextAreaElement} */ #input;
  /** @type {HTMLButtonElement} */ #button;
  /** @type {HTMLElement} */ #starters;
  /** @type {Map<string, { element: HTMLElement, text: string }>} Replies that are being written, by the id of the event that will close them. */
  #drafts = new Map();
  /** @type {string[]} What was sent from here: its echo is not shown again. */ #sent = [];
  /** @type {"starting" | "ready" | "working" | "asking" | "broken"} */ #mode = "starting";
  #atEnd = true;

  /**
   * @param {HTMLElement} root
   * @param {(text: string) => void} ask
   */
  constructor(root, ask) {
    this.#log = find(".chat-log", root);
    this.#form = find(".composer", root);
    this.#input = find("textarea", this.#form);
    this.#button = find("button", this.#form);
    this.#starters = find(".starters", root);
    const submit = () => {
      const text = this.#input.value.trim();
      if (text === "" || this.#mode !== "ready") return;
      this.#input.value = "";
      ask(text);
    };
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      submit();
    });
    this.#input.addEventListener("keydown", (event) => {
      // While an input method is at work, Enter belongs to it.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      submit();
    });
    this.#starters.addEventListener("click", ({ target }) => {
      if (!(target instanceof HTMLButtonElement) || this.#mode !== "ready") return;
      // The button is about to be disabled, and the focus must not be lost with it.
      this.#input.focus({ preventScroll: true });
      ask(target.textContent ?? "");
    });
    // Who has scrolled up to read is left in peace.
    this.#log.addEventListener("scroll", () => {
      this.#atEnd = this.#log.scrollHeight - this.#log.scrollTop - this.#log.clientHeight < 60;
    });
    new ResizeObserver(() => this.#follow()).observe(this.#log);
    this.mode("starting");
  }

  /** @param {"starting" | "ready" | "working" | "asking" | "broken"} mode `asking`: the visitor is to answer first. */
  mode(mode) {
    this.#mode = mode;
    const hints = {
      starting: "Connecting…",
      ready: "Ask about the board",
      working: "The assistant is at work…",
      asking: "Answer the question above first",
      broken: "Not connected",
    };
    this.#input.placeholder = hints[mode];
    this.#input.disabled = mode === "starting" || mode === "broken";
    this.#button.disabled = mode !== "ready";
    for (const starter of this.#starters.querySelectorAll("button")) starter.disabled = mode !== "ready";
    // A question to the visitor needs the room.
    this.#starters.hidden = mode === "broken" || mode === "asking";
    this.#log.toggleAttribute("data-working", mode === "working");
  }

  clear() {
    this.#log.querySelectorAll(":scope > :not(.chat-empty)").forEach((child) => child.remove());
    this.#drafts.clear();
    this.#sent = [];
  }

  /** @param {string} text */
  user(text) {
    this.#sent.push(text);
    this.#atEnd = true;
    this.#add(bubble("user", text));
  }

  /**
   * What the page itself tells the agent.
   * @param {string} title
   * @param {string} text
   */
  report(title, text) {
    this.#sent.push(text);
    this.#add(el("details.chat-report", {}, el("summary", { text: title }), el("pre", { text, tabindex: "0" })));
  }

  /** @param {MessageEvent_} message */
  message({ id, role, text }) {
    if (role === "user") {
      const echo = this.#sent.indexOf(text);
      if (echo >= 0) this.#sent.splice(echo, 1);
      else this.#add(bubble("user", text));
      return;
    }
    const draft = this.#drafts.get(id ?? "") ?? this.#drafts.get("");
    if (draft === undefined) return this.#add(bubble("assistant", text));
    this.#drafts.delete(id ?? "");
    this.#drafts.delete("");
    draft.element.removeAttribute("aria-busy");
    fill(draft.element, "assistant", text);
    this.#follow();
  }

  /** @param {DeltaEvent} delta */
  delta({ item = "", kind, content }) {
    if (kind !== "text" || content === "") return;
    let draft = this.#drafts.get(item);
    if (draft === undefined) {
      draft = { element: bubble("assistant", ""), text: "" };
      draft.element.setAttribute("aria-busy", "true");
      this.#drafts.set(item, draft);
      this.#add(draft.element);
    }
    draft.text += content;
    fill(draft.element, "assistant", draft.text);
    this.#follow();
  }

  /** A turn has ended: what is still unfinished stays so. */
  endDrafts() {
    for (const { element } of this.#drafts.values()) element.removeAttribute("aria-busy");
    this.#drafts.clear();
  }

  /** A question to the visitor. @param {HTMLElement} card */
  card(card) {
    this.#atEnd = true;
    this.#add(card);
    // Of a card that is higher than the log its beginning is shown, and nothing scrolls it away.
    if (card.offsetHeight < this.#log.clientHeight) return;
    this.#atEnd = false;
    this.#log.scrollTop = card.offsetTop - 8;
  }

  /** Where the visitor writes. */
  focus() {
    this.#input.focus({ preventScroll: true });
  }

  /**
   * Something went wrong.
   * @param {{ title: string, text: string }} trouble
   * @param {{ label: string, act: () => void }} [way] A way out.
   */
  trouble({ title, text }, way) {
    const box = el("div.chat-trouble", { role: "alert" }, el("strong", { text: title }), el("p", { text }));
    if (way !== undefined) {
      const act = () => {
        box.remove();
        way.act();
      };
      box.append(el("button.button", { type: "button", text: way.label, onclick: act }));
    }
    this.#add(box);
  }

  /** @param {HTMLElement} child */
  #add(child) {
    this.#log.append(child);
    this.#follow();
  }

  #follow() {
    if (this.#atEnd) this.#log.scrollTop = this.#log.scrollHeight;
  }
}

/** @param {"user" | "assistant"} role @param {string} text */
function bubble(role, text) {
  const element = el(`div.bubble.is-${role}`);
  fill(element, role, text);
  return element;
}

/** @param {HTMLElement} bubble @param {"user" | "assistant"} role @param {string} text */
function fill(bubble, role, text) {
  const speaker = el("span.visually-hidden", { text: role === "user" ? "You: " : "Assistant: " });
  bubble.replaceChildren(speaker, ...(role === "user" ? [el("p", { text })] : paragraphs(text)));
}
