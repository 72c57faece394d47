// @ts-check
/** @import { Hooks } from "./live-session.js" */
/** @import { PagehandError } from "./errors.js" */
/** @import { Line } from "./uipath-glue.js" */
import { coreError } from "./errors.js";
import { textInto } from "./text.js";
import { core } from "./uipath-core.js";

/** The connection that all conversations of one server object share: made with the first, and anew when the core is lost. */
export class SharedLine {
  /** @type {Line | undefined} */ #line;
  /** @type {(hooks: Hooks) => Line} */ #make;
  /** @type {() => Promise<string>} */ #key;

  /**
   * @param {(hooks: Hooks) => Line} make
   * @param {() => Promise<string>} key The key of the next connection, where it is the app's to say.
   */
  constructor(make, key) {
    this.#make = make;
    this.#key = key;
  }

  /** The line, on the core as it is loaded. */
  get current() {
    if (this.#line === undefined) {
      /** @type {Line | undefined} */
      let line;
      const guard = (/** @type {(event?: any) => any} */ work) => core.guarded(work, () => line !== undefined && this.#line === line);
      line = core.enter(() => this.#make(/** @type {any} */ ({ guard, text: textInto, key: this.#key, error: coreError })));
      this.#line = line;
      core.inhabitants.add(this);
    }
    return this.#line;
  }

  /** @param {PagehandError} _ Every conversation is told for itself. */
  lost(_) {
    this.#line = undefined;
  }
}
