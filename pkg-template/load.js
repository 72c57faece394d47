// @ts-check
/** @import { WasmSource } from "./types.js" */
// Loading a wasm file.
import { optionsOf } from "./checks.js";
import { PagehandError, invalidArgument } from "./errors.js";
// The glue of the engine is small and comes along, because service workers refuse a later `import()`. Its wasm does not.
import initSchema from "./schema.js";

/** @typedef {"status" | "html" | "invalid" | "csp" | "network" | "location"} Trouble */

/** One wasm file: loaded at most once, at first need, and again after a failure. */
export class WasmFile {
  /** @type {string} */ #name;
  /** @type {() => WasmSource} */ #place;
  /** @type {(source: { module_or_path: any }) => Promise<unknown>} */ #instantiate;
  /** @type {(() => void) | undefined} */ #started;
  /** @type {WasmSource | undefined} */ #source;
  /** @type {Promise<void> | undefined} */ #loading;
  #instantiated = false;

  /**
   * @param {string} name
   * @param {() => WasmSource} place
   * @param {(source: { module_or_path: any }) => Promise<unknown>} instantiate
   * @param {() => void} [started]
   */
  constructor(name, place, instantiate, started) {
    this.#name = name;
    this.#place = place;
    this.#instantiate = instantiate;
    this.#started = started;
  }

  /**
   * Concurrent loads are one. A source that is given while or after loading is not needed any more.
   * @param {WasmSource} [source]
   * @returns {Promise<void>}
   */
  load(source) {
    if (this.#loading === undefined) {
      if (source !== undefined) this.#source = source;
      this.#loading = this.#load().catch((error) => {
        // The next load tries again, and from the same place if it was one: the app has said that it lies there.
        this.#loading = undefined;
        if (!isReusable(this.#source)) this.#source = undefined;
        throw error;
      });
    }
    return this.#loading;
  }

  /** The instance is lost. The glue makes a new one, from the module it has, at the next call. */
  forget() {
    this.#loading = undefined;
  }

  async #load() {
    if (!this.#instantiated) {
      const name = this.#name;
      const content = await contentOf(name, this.#source === undefined ? located(name, this.#place) : this.#source);
      try {
        await this.#instantiate({ module_or_path: content });
      } catch (cause) {
        throw unusable(name, cause);
      }
      this.#instantiated = true;
    }
    this.#started?.();
  }
}

/** The schema engine, that tools with schemas need. */
export const schemaEngine = /* @__PURE__ */ new WasmFile(
  "schema.wasm",
  // Written out, because bundlers look for exactly this.
  () => new URL("./schema.wasm", import.meta.url),
  initSchema,
);

/**
 * Loads files ahead of need, or from an unusual place.
 * @param {Record<string, { load(source?: WasmSource): Promise<void> }>} files
 * @param {unknown} sources By the names of the files. `true` is the usual place.
 */
export async function loadAll(files, sources) {
  const given = optionsOf(sources ?? null, "sources", Object.keys(files));
  await Promise.all(
    Object.entries(given).map(([name, source]) => {
      if (source !== undefined) return files[name].load(source === true ? undefined : /** @type {WasmSource} */ (source));
    }),
  );
}

// ------------------------------------------------------------------ where the bytes come from

/**
 * Bytes, a module, or a response that can be compiled while it streams.
 * @param {string} name
 * @param {WasmSource} source
 * @returns {Promise<BufferSource | WebAssembly.Module | Response>}
 */
async function contentOf(name, source) {
  let content;
  try {
    content = await source;
  } catch (cause) {
    throw unavailable(name, "network", "the given promise was rejected", cause);
  }
  if (content instanceof WebAssembly.Module || content instanceof ArrayBuffer || ArrayBuffer.isView(content)) return content;
  if (typeof content === "string" || content instanceof URL || content instanceof Request) {
    content = readFile(name, content) ?? (await fetched(name, content));
  }
  if (!(content instanceof Response)) {
    if (ArrayBuffer.isView(content)) return content;
    throw invalidArgument("source", "a URL, Request, Response, bytes, WebAssembly.Module, or a promise of one");
  }
  if (!content.ok) throw unavailable(name, "status", `the server answered ${content.status}`);
  if (content.headers.get("content-type") === "application/wasm") return content;
  const bytes = await content.arrayBuffer().catch((cause) => {
    throw unusable(name, cause);
  });
  return checkedBytes(name, new Uint8Array(bytes));
}

/**
 * Node has the file, and no fetch for it. Asked of `process`, because an import of a Node module stops bundlers.
 * @param {string} name
 * @param {string | URL | Request} source
 * @returns {BufferSource | undefined}
 */
function readFile(name, source) {
  const url = String(source instanceof Request ? source.url : source);
  if (!url.startsWith("file:")) return undefined;
  const files = /** @type {any} */ (globalThis).process?.getBuiltinModule?.("node:fs");
  try {
    return files?.readFileSync(new URL(url));
  } catch (cause) {
    throw unavailable(name, "location", "the file cannot be read", cause);
  }
}

/**
 * @param {string} name
 * @param {string | URL | Request} source
 */
async function fetched(name, source) {
  try {
    return await fetch(source);
  } catch (cause) {
    throw unavailable(name, "network", "fetching it failed; is its origin in the page's connect-src?", cause);
  }
}

/**
 * @param {string} name
 * @param {Uint8Array} bytes
 */
function checkedBytes(name, bytes) {
  // "\0asm"
  if ([0, 0x61, 0x73, 0x6d].every((byte, at) => bytes[at] === byte)) return bytes;
  // "<": most often a page that a development server sends for every path it does not know.
  throw bytes[0] === 0x3c
    ? unavailable(
        name,
        "html",
        "HTML came instead. With Vite before 8, add \"pagehand\" to optimizeDeps.exclude; otherwise serve the file " +
          "beside the script, say where it is with init(), or import \"pagehand/inline\"",
      )
    : unavailable(name, "invalid", "what came is not wasm; say where the file is with init()");
}

/**
 * Why an answer that began well came to nothing. Engines have a `CompileError` of their own for a policy, or not; what is no error of
 * WebAssembly, and not about what the file imports, is one of the stream that it came from.
 * @param {string} name
 * @param {unknown} cause
 */
function unusable(name, cause) {
  const text = String(cause);
  if (/content security policy|\bcsp\b|unsafe-eval/i.test(text)) {
    return unavailable(name, "csp", "the page's Content-Security-Policy forbids it: add 'wasm-unsafe-eval' to script-src", cause);
  }
  return /^(Type|Abort|Network)Error(?!.*\bimport)/is.test(text)
    ? unavailable(name, "network", "it broke off while it came", cause)
    : unavailable(name, "invalid", "it is not the wasm file of this version", cause);
}

/**
 * @param {string} name
 * @param {() => WasmSource} place
 */
function located(name, place) {
  try {
    return place();
  } catch (cause) {
    const words = "this bundle does not know its own URL; import \"pagehand/inline\", or say where the file is with init()";
    throw unavailable(name, "location", words, cause);
  }
}

/**
 * @param {string} name
 * @param {Trouble} reason
 * @param {string} words
 * @param {unknown} [cause]
 */
function unavailable(name, reason, words, cause) {
  const retryable = reason === "network" || reason === "status";
  const message = `${name} could not be loaded: ${words}`;
  return new PagehandError("wasm_unavailable", message, { details: { file: name, reason }, retryable, cause });
}

/** @param {WasmSource | undefined} source */
function isReusable(source) {
  return typeof source === "string" || source instanceof URL || source instanceof WebAssembly.Module;
}
