// @ts-check
/** @import { Attachment, InputStream, InputStreamOptions, Waiting } from "./types.js" */
/** @import { Plan } from "./conversation.js" */
import { millisecondsOf, objectOf, optionsOf, signalOf, textOf } from "./checks.js";
import { Conversation } from "./conversation.js";
import { PagehandError, invalidArgument } from "./errors.js";
import { LiveSession } from "./live-session.js";

/** Milliseconds: longer than any pause in speech. */
const LONGEST = 2 ** 31 - 1;

/** What only UiPath's service can do with a conversation. */
export class UiPathConversation extends Conversation {
  #live;

  /** @param {Plan} plan */
  constructor(plan) {
    const live = new LiveSession(plan.core, plan.schemas);
    super(plan, live);
    this.#live = live;
  }

  get label() {
    return this.#live.told.label;
  }

  /**
   * @param {string} [reason]
   * @param {Waiting} [options]
   */
  async stop(reason = "stopped by the user", options) {
    const given = optionsOf(options, "options", ["signal"]);
    const words = textOf(reason, "reason");
    await this.#live.ask((session, operation) => session.stop(operation, words), signalOf(given));
  }

  /** @param {object} changes @param {Waiting} [options] */
  async update(changes, options) {
    return this.#live.do("update", objectOf(changes, "changes"), options);
  }

  /** @param {Waiting} [options] */
  async delete(options) {
    await this.#live.do("delete", {}, options);
  }

  /**
   * @param {string} exchangeId
   * @param {"positive" | "negative"} rating
   * @param {Waiting & { comment?: string }} [options]
   */
  async feedback(exchangeId, rating, options) {
    const { signal, comment } = optionsOf(options, "options", ["signal", "comment"]);
    await this.#live.do("feedback", { exchangeId: textOf(exchangeId, "exchangeId"), rating, comment }, { signal });
  }

  /**
   * @param {Blob} file
   * @param {Waiting & { name?: string }} [options]
   * @returns {Promise<Attachment>}
   */
  async upload(file, options) {
    const given = optionsOf(options, "options", ["signal", "name"]);
    if (!(file instanceof Blob)) throw invalidArgument("file", "must be a Blob or a File");
    const name = textOf(given.name ?? /** @type {any} */ (file).name, "name");
    const mimeType = file.type || "application/octet-stream";
    const signal = signalOf(given);
    const { uri, upload } = await this.#live.do("attachment", { name }, { signal });
    const headers = { ...upload.headers, "Content-Type": mimeType };
    const request = { method: upload.method, headers, body: file, signal, credentials: /** @type {const} */ ("omit") };
    const response = await fetch(upload.url, request).catch((cause) => {
      signal?.throwIfAborted();
      throw new PagehandError("unreachable", "the file could not be sent to its store", { retryable: true, cause });
    });
    if (!response.ok) {
      const { status } = response;
      throw new PagehandError("request_refused", `the store refused the file (${status})`, { details: { status, detail: "" } });
    }
    return { type: "attachment", uri, name, mimeType, byteCount: file.size };
  }

  /**
   * @param {InputStreamOptions} options
   * @returns {Promise<InputStream>}
   */
  async openInput(options) {
    const { signal, ...given } = optionsOf(options, "options");
    for (const field of ["prefixPaddingMs", "silenceDurationMs"]) {
      if (given[field] !== undefined) millisecondsOf(given[field], field, 0, LONGEST);
    }
    const { streamId } = await this.#live.do("startStream", given, { signal });
    return {
      id: streamId,
      write: async (data) => this.#live.do("streamChunk", { streamId, data: textOf(data, "data") }, undefined),
      end: () => this.#live.do("endStream", { streamId }, undefined),
    };
  }

  /** @param {object} event Any object. @param {Waiting & { exchangeId?: string, messageId?: string }} [options] */
  async sendMetaEvent(event, options) {
    const { signal, ...at } = optionsOf(options, "options", ["signal", "exchangeId", "messageId"]);
    await this.#live.do("sendMetaEvent", { ...at, event: objectOf(event, "event") }, { signal });
  }
}
