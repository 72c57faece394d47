// UiPath's conversational agents: how to reach one, how to begin, and what a turn is there.
import { uipath } from "./pkg/index.js";

/** @import { Protocol } from "./protocols.js" */

/** @type {Protocol} */
export const uiPath = {
  key: "uipath",
  name: "UiPath",
  secret: "access token",
  refusal: "It is wrong, has expired, or lacks the scope for conversations.",
  invitation: "Connect to a real agent",
  note: "A conversational agent whose client-side tools have the names of this page's. The token is kept in this page only, and is gone when you close it.",
  fields: [
    { name: "url", label: "Service URL", type: "url", required: true, value: "https://api.uipath.com" },
    { name: "organization", label: "Organization", type: "text", required: true },
    { name: "tenant", label: "Tenant", type: "text", required: true, placeholder: "DefaultTenant" },
    { name: "token", label: "Access token", type: "password", required: true },
    { name: "folderId", label: "Folder id", type: "number", required: true },
    { name: "agentReleaseId", label: "Agent release id", type: "number", required: true },
  ],
  demo: { organization: "harbour", tenant: "demo", token: "demo", folderId: "11", agentReleaseId: "7" },

  start({ url, organization, tenant, token, folderId, agentReleaseId }, tools, signal) {
    const surface = { name: "pagehand-demo" };
    return uipath({ url, organization, tenant, token, surface }).start({
      tools,
      folderId: Number(folderId),
      agentReleaseId: Number(agentReleaseId),
      signal,
    });
  },

  // The agent waits for each of its calls and is given what came of it, so a turn is a turn.
  async ask(conversation, text) {
    await conversation.send(text);
    return conversation.idle();
  },
};
