// The form that leads to a real server. What is typed here stays in this page, and goes to that server only.
import { el, find } from "./dom.js";

/** @import { Protocol, Settings, SettingsField } from "./protocols.js" */

export class ConnectForm {
  /** @type {HTMLDetailsElement} */ #details;
  /** @type {HTMLFormElement} */ #form;
  /** @type {HTMLButtonElement} */ #back;
  /** @type {Map<Protocol, HTMLElement>} What was typed for one protocol is still there after a look at another. */
  #fields = new Map();

  /**
   * @param {HTMLDetailsElement} details
   * @param {{ connect(settings: Settings): void, back(): void }} acts
   */
  constructor(details, { connect, back }) {
    this.#details = details;
    this.#form = find("form", details);
    this.#back = find(".connect-back", details);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      connect(this.#settings());
    });
    this.#back.addEventListener("click", () => {
      this.#form.reset();
      back();
    });
  }

  /** Offers the settings of a protocol. @param {Protocol} protocol */
  offer(protocol) {
    const { invitation, note, fields } = protocol;
    find("summary", this.#details).textContent = invitation;
    find(".connect-note", this.#form).textContent = note;
    const shown = this.#fields.get(protocol) ?? el("div.connect-fields", {}, ...fields.map(line));
    this.#fields.set(protocol, shown);
    find(".connect-fields", this.#form).replaceWith(shown);
  }

  /** Folds the form away, and offers the way back when there is one. @param {boolean} isElsewhere */
  connected(isElsewhere) {
    this.#details.open = false;
    this.#back.hidden = !isElsewhere;
  }

  /** Without what was left empty. @returns {Settings} */
  #settings() {
    const typed = [...new FormData(this.#form)].map(([name, value]) => [name, String(value).trim()]);
    return Object.fromEntries(typed.filter(([, value]) => value !== ""));
  }
}

/** @param {SettingsField} field */
function line({ name, label, hint, type, required = false, placeholder = "", value = "" }) {
  const whole = type === "number" && { min: "1", step: "1", inputmode: "numeric" };
  const autocomplete = type === "url" ? "url" : "off";
  const input = el("input", { name, type, required, placeholder, value, autocomplete, spellcheck: "false", ...whole });
  return el("label", {}, label, ...(hint === undefined ? [] : [" ", el("span", { text: hint })]), input);
}
