// What `cargo xtask test` tells the tests.
import { mkdirSync } from "node:fs";

/** @param {string} name */
function told(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run these tests with "cargo xtask test --only e2e"`);
  return value;
}

/** The built package. */
export const pkg = told("PAGEHAND_PKG");
/** The stand-in server. */
export const mockServer = told("PAGEHAND_MOCK_SERVER");
/** The launchers of the real server, in a release with the session socket and in one without. */
export const agentServer = told("PAGEHAND_AGENT_SERVER");
export const olderAgentServer = told("PAGEHAND_OLDER_AGENT_SERVER");
/** The language model of the real server. */
export const scriptedLlm = told("PAGEHAND_SCRIPTED_LLM");
/** UiPath's own runtime: a Python that has it, and the peer in which a script takes the agent's place. */
export const uipathPython = told("PAGEHAND_UIPATH_PYTHON");
export const uipathPeer = told("PAGEHAND_UIPATH_PEER");
/** The browser: `chromium`, `firefox` or `webkit`, and its program. */
export const kind = process.env.PAGEHAND_BROWSER ?? "chromium";
export const program = told(`PAGEHAND_${kind.toUpperCase()}`);
/** What drives WebKit; the others need nothing. */
export const webkitDriver = process.env.PAGEHAND_WEBKIT_DRIVER ?? "";
/** Where logs and screenshots go. */
export const output = told("PAGEHAND_OUTPUT");

mkdirSync(output, { recursive: true });
