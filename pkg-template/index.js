// @ts-check
// The package's names. Importing this file does nothing, in a page, a worker or on a server.

export { dispatcher } from "./dispatcher.js";
export { PagehandError } from "./errors.js";
export { init } from "./load.js";
export { openhands } from "./openhands.js";
export { tool } from "./tool.js";
export { uipath } from "./uipath.js";
