// @ts-check
/** @import { Status, ToolReport } from "./types.js" */
/** @import { Topic } from "./emitter.js" */
/** @import { Answer } from "./approvals.js" */
import { Approvals } from "./approvals.js";
import { OpenCalls } from "./calls.js";
import { Emitter, TOPICS } from "./emitter.js";

/** What is heard even if the app does not listen: the getters show it. @type {readonly Topic[]} */
const ALWAYS = ["call", "approval", "status", "connection", "tools", "label"];

/** What the core has told about a conversation, and the app's listeners, who hear it. */
export class Told {
  /** @type {Status} */ status = "idle";
  /** @type {ToolReport} */ tools = { ready: [], missingHandlers: [], unknownToServer: [], differentSchema: [] };
  /** @type {string | undefined} */ label;
  calls = new OpenCalls();
  approvals;
  emitter = new Emitter(() => this.#wantsChanged());
  /** @type {(() => void)[] | undefined} Events that wait until the app can have listeners. */ #held = [];
  /** @type {(reason: string) => void} */ #ended;
  /** @type {(topics: number) => void} */ #listens;

  /**
   * @param {Answer} answer
   * @param {(reason: string) => void} ended The core has ended the conversation.
   * @param {(topics: number) => void} listens From now on only these topics are of use, by the bits of their numbers.
   */
  constructor(answer, ended, listens) {
    this.approvals = new Approvals(answer);
    this.#ended = ended;
    this.#listens = listens;
  }

  /**
   * Keeps what the getters show up to date, and tells the app.
   * @param {Topic} topic
   * @param {string} json
   */
  hear(topic, json) {
    switch (topic) {
      case "call":
        return this.deliver(topic, this.calls.whole(JSON.parse(json)));
      case "status": {
        const value = JSON.parse(json);
        this.status = value.status;
        return this.deliver(topic, value);
      }
      case "approval": {
        const request = this.approvals.heard(JSON.parse(json));
        // One that is answered before the app can hear of it is none.
        if (request) this.#later(() => request.signal.aborted || this.emitter.emit(topic, request));
        return;
      }
      case "tools":
        this.tools = JSON.parse(json);
        return this.deliver(topic, this.tools);
      case "label": {
        const value = JSON.parse(json);
        this.label = value.text;
        return this.deliver(topic, value);
      }
      case "connection": {
        const value = JSON.parse(json);
        this.deliver(topic, value);
        if (value.state === "closed") this.#ended(value.reason);
        return;
      }
      default:
        this.#later(() => {
          if (this.emitter.wants(topic)) this.emitter.emit(topic, JSON.parse(json));
        });
    }
  }

  /** @param {Topic} topic @param {unknown} value */
  deliver(topic, value) {
    this.#later(() => this.emitter.emit(topic, value));
  }

  /** The app can have listeners. */
  release() {
    // A listener may cause more events: they line up behind the held ones.
    for (let delivery = this.#held?.shift(); delivery !== undefined; delivery = this.#held?.shift()) delivery();
    this.#held = undefined;
    this.#wantsChanged();
  }

  /** Nothing is open any more. */
  clear() {
    this.calls.clear();
    this.approvals.endAll("the conversation is closed");
  }

  /** Who may listen to what is not known before the app can. */
  #wantsChanged() {
    if (this.#held !== undefined) return;
    const wanted = TOPICS.map((topic, number) => (ALWAYS.includes(topic) || this.emitter.wants(topic) ? 1 << number : 0));
    this.#listens(wanted.reduce((all, bit) => all | bit));
  }

  /** @param {() => void} delivery */
  #later(delivery) {
    if (this.#held === undefined) delivery();
    else this.#held.push(delivery);
  }
}
