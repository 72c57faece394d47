// The constructors of the core for UiPath are in `src/wasm/uipath.rs`.
import { Session as Common } from "./glue.js";
import type { Hooks } from "./live-session.js";

export { begin, default, giveUp, stuck } from "./glue.js";

/** A connection that several sessions share. */
export class Line {
  private constructor();
  static uipath(options: Service, hooks: Hooks): Line;
}

export interface Service {
  url: string;
  organization: string;
  tenant: string;
  externalUser?: string | undefined;
  socketPath?: string | undefined;
  surfaceName?: string | undefined;
  surfaceVersion?: string | undefined;
  sessionKey?: unknown;
  asksKey: boolean;
}

export class Session extends Common {
  static uipath(
    line: Line,
    options: Service & { id?: string | undefined; request?: string | undefined },
    tools: string,
    handlers: Function[],
    hooks: Hooks,
  ): Session;
}
