// @ts-check
/** @import { WasmSource } from "./types.js" */
// The package's names. Importing this file does nothing, in a page, a worker or on a server. It takes everything from the two
// other entries, so that there is one of everything, whichever an app imports.
import { init as initOpenHands } from "./openhands.js";
import { init as initUiPath } from "./uipath.js";

export { PagehandError, dispatcher, openhands, tool } from "./openhands.js";
export { uipath } from "./uipath.js";

/**
 * @param {{ openhands?: WasmSource | true, uipath?: WasmSource | true, schema?: WasmSource | true }} sources
 * @returns {Promise<void>}
 */
export async function init(sources) {
  if (sources?.uipath === undefined) return initOpenHands(sources);
  const { uipath, ...others } = sources;
  await Promise.all([initUiPath({ uipath }), initOpenHands(others)]);
}
