// The protocols that the page speaks. One more is one more file like these two, and its name in the list.
import { openHands } from "./openhands.js";
import { uiPath } from "./uipath.js";

/** @import { Conversation, Tool, TurnEnd } from "./pkg/types.d.ts" */

/**
 * Where an agent is, and what it takes to speak with it: by the names of the protocol's fields.
 * @typedef {{ url: string } & Record<string, string>} Settings
 */

/**
 * A line of the form that leads to another server.
 * @typedef {object} SettingsField
 * @property {string} name
 * @property {string} label
 * @property {string} [hint]
 * @property {"text" | "url" | "password" | "number"} type
 * @property {boolean} [required]
 * @property {string} [placeholder]
 * @property {string} [value]
 */

/**
 * @typedef {object} Protocol
 * @property {string} key Its name in the page's address.
 * @property {string} name
 * @property {string} secret What its servers call the thing that lets one in.
 * @property {string} refusal What may be wrong with it.
 * @property {string} invitation The title of the form.
 * @property {string} note What to know before filling it in.
 * @property {SettingsField[]} fields
 * @property {Record<string, string>} demo The settings of the scripted agent, but for the URL.
 * @property {(settings: Settings, tools: readonly Tool[], signal: AbortSignal) => Promise<Conversation>} start
 * @property {(conversation: Conversation, text: string, page: Page) => Promise<TurnEnd>} ask
 *   Asks, and stays with it until there is nothing more to do.
 */

/**
 * What a turn may need of the page.
 * @typedef {object} Page
 * @property {readonly Tool[]} tools
 * @property {(tools: string[], text: string) => void} onReport The page is about to tell the agent something by itself.
 */

export const PROTOCOLS = [openHands, uiPath];

/** Which protocol the address asks for. */
export function protocolOfAddress() {
  const wanted = new URLSearchParams(location.search).get("agent");
  return PROTOCOLS.find(({ key }) => key === wanted) ?? PROTOCOLS[0];
}

/** Remembers the choice, so that a reload or a copied address leads to it. @param {Protocol} protocol */
export function putInAddress({ key }) {
  const url = new URL(location.href);
  url.searchParams.set("agent", key);
  history.replaceState(null, "", url);
}
