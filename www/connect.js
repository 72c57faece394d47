// The form that leads to a real agent server. What is typed here stays in this page, and goes to that server only.
import { find } from "./dom.js";

/** @import { Settings } from "./session.js" */

export class ConnectForm {
  /** @type {HTMLDetailsElement} */ #details;
  /** @type {HTMLFormElement} */ #form;
  /** @type {HTMLButtonElement} */ #back;

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

  /** Folds the form away, and offers the way back when there is one. @param {boolean} isElsewhere */
  connected(isElsewhere) {
    this.#details.open = false;
    this.#back.hidden = !isElsewhere;
  }

  /** @returns {Settings} */
  #settings() {
    const data = new FormData(this.#form);
    /** @param {string} name */
    const text = (name) => String(data.get(name) ?? "").trim();
    return {
      url: text("url"),
      sessionKey: text("sessionKey") || undefined,
      model: text("model"),
      apiKey: text("apiKey") || undefined,
      baseUrl: text("baseUrl") || undefined,
      workspace: text("workspace"),
    };
  }
}
