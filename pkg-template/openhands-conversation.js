// @ts-check
/** @import { ForkOptions, Waiting } from "./types.js" */
/** @import { Plan } from "./conversation.js" */
import { objectOf, optionsOf, signalOf, switchOf, textOf } from "./checks.js";
import { Conversation } from "./conversation.js";
import { LiveSession } from "./live-session.js";

/** @typedef {(id: string, signal: AbortSignal | undefined) => Promise<OpenHandsConversation>} Attach */
/** @typedef {Plan & { attach: Attach }} OpenHandsPlan `attach` joins another of the same server, with the tools as they are then. */

/** What only an OpenHands agent-server can do with a conversation. */
export class OpenHandsConversation extends Conversation {
  #live;
  /** @type {Attach} */ #attach;

  /** @param {OpenHandsPlan} plan */
  constructor(plan) {
    const live = new LiveSession(plan.core, plan.schemas);
    super(plan, live);
    this.#live = live;
    this.#attach = plan.attach;
  }

  /**
   * @param {Waiting & { approvePending?: boolean }} [options]
   * @returns {Promise<void>}
   */
  async run(options) {
    const given = optionsOf(options, "options", ["signal", "approvePending"]);
    const approve = switchOf(given, "approvePending", false);
    await this.#live.ask((session, operation) => session.run(operation, approve), signalOf(given));
  }

  /** @param {Waiting} [options] */
  async pause(options) {
    await this.#live.do("pause", null, options);
  }

  /** @param {Waiting} [options] */
  async interrupt(options) {
    await this.#live.do("interrupt", null, options);
  }

  /** @param {object} policy @param {Waiting} [options] */
  async setConfirmationPolicy(policy, options) {
    await this.#live.do("setPolicy", objectOf(policy, "policy"), options);
  }

  /**
   * @param {Waiting & ForkOptions} [options]
   * @returns {Promise<OpenHandsConversation>}
   */
  async fork(options) {
    const known = ["signal", "eventId", "conversationId", "title", "tags"];
    const { signal, eventId, conversationId, title, tags } = optionsOf(options, "options", known);
    const { id } = await this.#live.do("fork", { conversationId, eventId, title, tags }, { signal });
    return this.#attach(id, signalOf({ signal }));
  }

  /** @param {Waiting} [options] */
  async delete(options) {
    await this.#live.do("delete", null, options);
  }

  /** @param {object} changes @param {Waiting} [options] */
  async update(changes, options) {
    await this.#live.do("update", objectOf(changes, "changes"), options);
  }

  /** @param {string | null} eventId @param {Waiting} [options] */
  async navigate(eventId, options) {
    await this.#live.do("navigate", eventId === null ? null : textOf(eventId, "eventId"), options);
  }

  /** @param {object} llm @param {Waiting} [options] */
  async switchLlm(llm, options) {
    await this.#live.do("switchLlm", objectOf(llm, "llm"), options);
  }

  /**
   * @param {string} question
   * @param {Waiting} [options]
   * @returns {Promise<string>}
   */
  async ask(question, options) {
    return this.#live.do("ask", textOf(question, "question"), options);
  }

  /** @param {Waiting} [options] */
  async condense(options) {
    await this.#live.do("condense", null, options);
  }
}
