// @ts-check
/** @import { Validator } from "./types.js" */
/** @import { Declared } from "./tool.js" */
/** @import { Validate } from "./validators.js" */
// What holds values against schemas, as one conversation sees it. The engine's wasm is fetched when the first schema comes
// that no validator of the app's is for.
import { switchOf } from "./checks.js";
import { invalidArgument } from "./errors.js";
import { schemaEngine } from "./load.js";
import { Engine } from "./schema.js";
import { reportOf } from "./validators.js";

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
  /** @type {Validator | undefined} For all tools that have none. */ #validator;
  /** @type {boolean} */ #masked;
  /** @type {WeakMap<Function, Declared>} By their handlers. */ #tools = new WeakMap();
  /** @type {Map<number, any>} Texts for the engine; for a validator what is in them. */ #known = new Map();
  /** @type {Map<number, { engine: Engine, id: number }>} */ #compiled = new Map();

  /** @param {{ validator?: unknown, maskValues?: unknown }} options */
  constructor({ validator, maskValues }) {
    if (validator !== undefined && typeof validator !== "function") throw invalidArgument("validator", "must be a function");
    this.#validator = /** @type {Validator | undefined} */ (validator);
    this.#masked = switchOf({ maskValues }, "maskValues", false);
  }

  /**
   * A tool is declared, with this handler.
   * @param {Function} handler
   * @param {Declared} tool
   */
  declare(handler, tool) {
    this.#tools.set(handler, tool);
  }

  /**
   * Takes a schema. Rejects with `code: "invalid_schema"` when it is wrong, and otherwise when there is no engine; then
   * the first check tries again.
   * @param {number} schema
   * @param {string} text
   */
  async compile(schema, text) {
    const engineless = this.#validator !== undefined;
    this.#known.set(schema, engineless ? JSON.parse(text) : text);
    if (!engineless) await this.#ready(schema);
  }

  /**
   * @param {number} schema
   * @param {string} instance JSON text
   * @param {boolean} output whether it is a result
   * @param {Function | undefined} handler of the tool, if it is declared
   * @returns {Promise<string>} JSON text of a report
   */
  async check(schema, instance, output, handler) {
    const validate = this.#validate(schema, output ? "output" : "input", handler && this.#tools.get(handler));
    if (validate !== undefined) return reportOf(validate, instance, this.#masked);
    const { engine, id } = await this.#ready(schema);
    return guarded(engine, () => engine.check(id, instance, this.#masked));
  }

  /** The conversation is over. */
  release() {
    for (const { engine, id } of this.#compiled.values()) {
      if (engine === shared) guarded(engine, () => engine.release(id));
    }
    this.#compiled.clear();
    this.#known.clear();
  }

  /**
   * The app's own validator, if it has one: the tool's before that for all tools.
   * @param {number} schema
   * @param {"input" | "output"} part
   * @param {Declared | undefined} tool
   * @returns {Validate | undefined}
   */
  #validate(schema, part, tool) {
    const all = this.#validator;
    return tool?.validators[part] ?? (all && ((value) => all(this.#known.get(schema), value, { tool: tool?.name, part })));
  }

  /** @param {number} schema */
  async #ready(schema) {
    const current = await engine();
    const known = this.#compiled.get(schema);
    if (known?.engine === current) return known;
    const text = this.#known.get(schema);
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
