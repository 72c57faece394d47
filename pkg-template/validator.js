// @ts-check
// The schema engine as one conversation sees it. Its wasm is fetched when the first schema comes.
import { schemaEngine } from "./load.js";
import { Engine } from "./schema.js";

/**
 * One engine for all conversations.
 * @type {Engine | undefined}
 */
let shared;

async function engine() {
  await schemaEngine.load();
  return (shared ??= new Engine());
}

/** The schemas of one conversation, under the core's numbers. */
export class Schemas {
  /** @type {Map<number, string>} */ #texts = new Map();
  /** @type {Map<number, { engine: Engine, id: number }>} */ #compiled = new Map();

  /**
   * Takes a schema. Rejects with `code: "invalid_schema"` when it is wrong, and otherwise when there is no engine; then
   * the first check tries again.
   * @param {number} schema
   * @param {string} text
   */
  async compile(schema, text) {
    this.#texts.set(schema, text);
    await this.#ready(schema);
  }

  /**
   * @param {number} schema
   * @param {string} instance JSON text
   * @returns {Promise<string>} JSON text of a report
   */
  async check(schema, instance) {
    const { engine, id } = await this.#ready(schema);
    return guarded(engine, () => engine.check(id, instance));
  }

  /** The conversation is over. */
  release() {
    for (const { engine, id } of this.#compiled.values()) {
      if (engine === shared) guarded(engine, () => engine.release(id));
    }
    this.#compiled.clear();
    this.#texts.clear();
  }

  /** @param {number} schema */
  async #ready(schema) {
    const current = await engine();
    const known = this.#compiled.get(schema);
    if (known?.engine === current) return known;
    const text = this.#texts.get(schema);
    if (text === undefined) throw new Error("the conversation is closed");
    const compiled = { engine: current, id: guarded(current, () => compile(current, text)) };
    this.#compiled.set(schema, compiled);
    return compiled;
  }
}

/**
 * @param {Engine} engine
 * @param {string} text
 */
function compile(engine, text) {
  try {
    return engine.compile(text);
  } catch (thrown) {
    // What is no trap is about the schema.
    if (thrown instanceof WebAssembly.RuntimeError) throw thrown;
    throw Object.assign(new Error(thrown instanceof Error ? thrown.message : String(thrown)), { code: "invalid_schema" });
  }
}

/**
 * A trap makes everything that the engine holds doubtful: the next use starts a new one.
 * @template T
 * @param {Engine} engine
 * @param {() => T} work
 * @returns {T}
 */
function guarded(engine, work) {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof WebAssembly.RuntimeError && shared === engine) shared = undefined;
    throw thrown;
  }
}
