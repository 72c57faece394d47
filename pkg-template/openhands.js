// @ts-check
/** @import { WasmSource } from "./types.js" */
// The entry `pagehand/openhands`: all that an app needs that speaks with OpenHands' servers only.
import { loadAll, schemaEngine } from "./load.js";
import { core } from "./openhands-core.js";

export { dispatcher } from "./dispatcher.js";
export { PagehandError } from "./errors.js";
export { openhands } from "./openhands-server.js";
export { tool } from "./tool.js";

/**
 * @param {{ openhands?: WasmSource | true, schema?: WasmSource | true }} sources
 * @returns {Promise<void>}
 */
export function init(sources) {
  return loadAll({ openhands: core, schema: schemaEngine }, sources);
}
