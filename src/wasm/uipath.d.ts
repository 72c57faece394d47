// The entry `pagehand/uipath`.
import type { WasmSources } from "./types.js";

export type * from "./types.js";
export { PagehandError, tool, uipath } from "./types.js";

/** Loads WebAssembly files ahead of need, or from an unusual place. Nothing has to call it. */
export function init(sources: Omit<WasmSources, "openhands">): Promise<void>;
