// The switch at the top: which protocol the page speaks.
import { el } from "./dom.js";
import { PROTOCOLS } from "./protocols.js";

/** @import { Protocol } from "./protocols.js" */

/**
 * Puts a radio button for each protocol into the group.
 * @param {HTMLElement} group
 * @param {Protocol} chosen
 * @param {(protocol: Protocol) => void} choose
 */
export function fillSwitch(group, chosen, choose) {
  for (const protocol of PROTOCOLS) {
    const radio = el("input", { type: "radio", name: "agent", value: protocol.key, checked: protocol === chosen, autocomplete: "off" });
    radio.addEventListener("change", () => choose(protocol));
    group.append(el("label", {}, radio, el("span", { text: protocol.name })));
  }
}
