// @ts-check
/** @import { WasmSource } from "./types.js" */
// The entry `pagehand/uipath`: all that an app needs that speaks with UiPath's service only.
import { loadAll, schemaEngine } from "./load.js";
import { core } from "./uipath-core.js";

export { PagehandError } from "./errors.js";
export { tool } from "./tool.js";
export { uipath } from "./uipath-server.js";

/**
 * @param {{ uipath?: WasmSource | true, schema?: WasmSource | true }} sources
 * @returns {Promise<void>}
 */
export function init(sources) {
  return loadAll({ uipath: core, schema: schemaEngine }, sources);
}
