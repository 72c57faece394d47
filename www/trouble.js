// What to tell the visitor when something went wrong.
import { PagehandError } from "./pkg/index.js";

/** @import { Protocol } from "./protocols.js" */

/**
 * @param {unknown} error
 * @param {{ url: string, isDemo: boolean, protocol: Protocol }} server
 * @returns {{ title: string, text: string }}
 */
export function troubleOf(error, { url, isDemo, protocol }) {
  const message = error instanceof Error ? error.message : String(error);
  if (!PagehandError.isInstance(error)) return { title: "Something went wrong", text: message };
  switch (error.code) {
    case "unreachable":
    case "request_timeout":
      return {
        title: `No agent server answers at ${url}`,
        text: isDemo
          ? "The demo's server has stopped. Start it with “cargo xtask demo”, then try again."
          : "Is it running, and does it allow pages from this address? An agent server allows localhost, and other origins only when it is told to.",
      };
    case "not_found":
    case "bad_response":
      if (!isDemo) break;
      return {
        title: "This page has no agent",
        text: "It was served without the demo's server. Run “cargo xtask demo”, or connect to a real agent below.",
      };
    case "unauthorized":
      return { title: `The server does not accept the ${protocol.secret}`, text: protocol.refusal };
    case "tool_conflict":
      return {
        title: "The server knows these tools in another version",
        text: `A tool's name stays bound to its schema until the server restarts: ${message}.`,
      };
    case "wasm_unavailable":
      return { title: "A part of pagehand could not be loaded", text: message };
  }
  return { title: "That did not work", text: `${message} (${error.code})` };
}
