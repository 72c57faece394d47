// @ts-check
/** @import { ConversationEvents, TopicEvent } from "./types.js" */
import { PagehandError, invalidArgument, reportThrown } from "./errors.js";

/** @typedef {keyof ConversationEvents} Topic */
/** @typedef {(value: any) => void} Listener */

/** The core numbers them in this order. @type {readonly Topic[]} */
export const TOPICS = [
  "call", "approval", "status", "message", "delta", "event", "connection", "tools", "notice", "error", "condition", "label",
];

/** Listeners and iterators of a conversation. */
export class Emitter {
  /** @type {Map<Topic, Set<{ listener: Listener }>>} */ #listeners = new Map();
  /** @type {Set<Stream>} */ #streams = new Set();
  #ended = false;
  /** How many events may wait for an iterator to be read. */
  unread = 100_000;
  /** @type {() => void} */ #changed;

  /** @param {() => void} [changed] Called when something else than before is wanted. */
  constructor(changed = () => {}) {
    this.#changed = changed;
  }

  /**
   * Whether somebody wants events of this kind: nobody has to parse what nobody reads.
   * @param {Topic} topic
   */
  wants(topic) {
    return this.#streams.size > 0 || this.#listeners.has(topic);
  }

  /**
   * @param {Topic} topic
   * @param {Listener} listener
   * @returns {() => void}
   */
  on(topic, listener) {
    if (!TOPICS.includes(topic)) throw invalidArgument("type", `${JSON.stringify(topic)} is none of ${TOPICS.join(", ")}`);
    if (typeof listener !== "function") throw invalidArgument("listener", "must be a function");
    // A record of its own, so that a function added twice is called twice and removed once.
    const entry = { listener };
    const entries = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, entries.add(entry));
    if (entries.size === 1) this.#changed();
    return () => {
      entries.delete(entry);
      if (entries.size > 0 || this.#listeners.get(topic) !== entries) return;
      this.#listeners.delete(topic);
      this.#changed();
    };
  }

  /**
   * Calls the listeners there are now: one that is added meanwhile waits for the next event, one that is removed
   * meanwhile is not called. An exception is the app's, and stops nobody.
   * @param {Topic} topic
   * @param {any} value
   */
  emit(topic, value) {
    const entries = this.#listeners.get(topic);
    for (const entry of entries === undefined ? [] : [...entries]) {
      if (!entries?.has(entry)) continue;
      try {
        entry.listener(value);
      } catch (error) {
        reportThrown(error);
      }
    }
    for (const stream of this.#streams) stream.push(/** @type {TopicEvent} */ ({ type: topic, value }), this.unread);
  }

  /** @returns {AsyncIterableIterator<TopicEvent>} */
  stream() {
    const stream = new Stream(() => {
      this.#streams.delete(stream);
      this.#changed();
    });
    if (this.#ended) stream.end();
    else this.#streams.add(stream);
    this.#changed();
    return stream;
  }

  /** No more events: iterators give what they have, and end. */
  end() {
    this.#ended = true;
    for (const stream of this.#streams) stream.end();
    this.#streams.clear();
  }
}

/**
 * The events from its making on. What is not read yet waits, so a loop must read or `return`.
 * @implements {AsyncIterableIterator<TopicEvent>}
 */
class Stream {
  /** @type {TopicEvent[]} */ #events = [];
  /** @type {((result: IteratorResult<TopicEvent, undefined>) => void)[]} */ #readers = [];
  /** @type {() => void} */ #leave;
  /** @type {PagehandError | undefined} Why nothing more comes. */ #failed;
  #ended = false;

  /** @param {() => void} leave */
  constructor(leave) {
    this.#leave = leave;
  }

  /** @param {TopicEvent} event @param {number} most */
  push(event, most) {
    const reader = this.#readers.shift();
    if (reader !== undefined) return reader({ done: false, value: event });
    if (this.#events.length < most) return void this.#events.push(event);
    // What was told is given; of what followed nothing, rather than something.
    const details = { limit: "unreadEvents", most };
    this.#failed = new PagehandError("limit_exceeded", `unreadEvents: ${most} wait already; read them faster`, { details });
    this.#leave();
    this.end();
  }

  end() {
    this.#ended = true;
    for (const reader of this.#readers.splice(0)) reader({ done: true, value: undefined });
  }

  /** @returns {Promise<IteratorResult<TopicEvent, undefined>>} */
  next() {
    const event = this.#events.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    const failed = this.#failed;
    this.#failed = undefined;
    if (failed !== undefined) return Promise.reject(failed);
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  /** @returns {Promise<IteratorResult<TopicEvent, undefined>>} */
  return() {
    this.#leave();
    this.#events = [];
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}
