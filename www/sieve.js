// What is shown of a long list of calls: all, those on their way, or those that went wrong.
import { el, find } from "./dom.js";

/** Fewer are seen at a glance. */
const MANY = 6;
const SHOWN = /** @type {const} */ ([["all", "All"], ["open", "On their way"], ["bad", "Gone wrong"]]);

export class Sieve {
  /** @type {HTMLElement} */ #root;
  /** @type {HTMLElement} */ #group;
  /** @type {HTMLElement} */ #none;
  /** @type {Map<string, { radio: HTMLInputElement, text: HTMLElement, name: string }>} */ #choices = new Map();

  /** @param {HTMLElement} root The panel; what it shows is in its `data-sieve`. */
  constructor(root) {
    this.#root = root;
    this.#group = find(".sieve", root);
    this.#none = find(".calls-none", root);
    for (const [key, name] of SHOWN) {
      const radio = /** @type {HTMLInputElement} */ (el("input", { type: "radio", name: "sieve", value: key, autocomplete: "off" }));
      const text = el("span");
      radio.addEventListener("change", () => this.#show(key));
      this.#choices.set(key, { radio, text, name });
      this.#group.append(el("label", {}, radio, text));
    }
  }

  /** Shows all again. */
  reset() {
    for (const [key, { radio }] of this.#choices) radio.checked = key === "all";
    this.#show("all");
  }

  /** @param {string[]} kinds How each of the calls stands. */
  count(kinds) {
    this.#group.hidden = kinds.length <= MANY;
    for (const [key, { text, name }] of this.#choices) {
      const many = key === "all" ? kinds.length : kinds.filter((kind) => kind === key).length;
      text.textContent = `${name} ${many}`;
      text.dataset.count = String(many);
    }
    this.#tellNone();
  }

  /** @param {string} key */
  #show(key) {
    this.#root.dataset.sieve = key;
    this.#tellNone();
  }

  #tellNone() {
    const key = this.#root.dataset.sieve ?? "all";
    this.#none.hidden = key === "all" || this.#choices.get(key)?.text.dataset.count !== "0";
  }
}
