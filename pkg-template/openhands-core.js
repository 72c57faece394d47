// @ts-check
import { Core } from "./core.js";
// The glue is small and comes along, because service workers refuse a later `import()`. The wasm does not.
import instantiate, { begin, giveUp, stuck } from "./openhands-glue.js";

/** The core that speaks with OpenHands' agent-servers. */
export const core = /* @__PURE__ */ new Core(
  "openhands.wasm",
  // Written out, because bundlers look for exactly this.
  () => new URL("./openhands.wasm", import.meta.url),
  { instantiate, begin, stuck, giveUp },
);
