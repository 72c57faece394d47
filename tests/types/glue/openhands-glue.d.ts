// The constructor of the core for OpenHands is in `src/wasm/openhands.rs`.
import { Session as Common } from "./glue.js";
import type { Hooks } from "./live-session.js";

export { begin, default, giveUp, stuck } from "./glue.js";

export class Session extends Common {
  static openhands(
    options: { url: string; sessionKey?: unknown; id: string; request?: string | undefined },
    tools: string,
    handlers: Function[],
    hooks: Hooks,
  ): Session;
}
