// @ts-check
/** @import { UiPathOptions, UiPathServer } from "./types.js" */
import { jsonOf, objectOf, optionsOf, switchOf, textOf } from "./checks.js";
import { Conversation } from "./conversation.js";
import { invalidArgument } from "./errors.js";
import { BROUGHT, absenceOf, keyOf, limitsOf, partedOf, planOf, requireSocket } from "./plan.js";
import { SharedLine } from "./shared-line.js";
import { UiPathConversation } from "./uipath-conversation.js";
import { core } from "./uipath-core.js";
import { Line, Session } from "./uipath-glue.js";

const OPTIONS = ["url", "organization", "tenant", "token", "externalUser", "socketPath", "surface"];

/**
 * UiPath's conversation service.
 * @param {UiPathOptions} options
 * @returns {UiPathServer}
 */
export function uipath(options) {
  const { token, surface, ...where } = optionsOf(options ?? null, "options", OPTIONS);
  if (token === undefined) throw invalidArgument("token", "must be a string of visible ASCII characters, or a function");
  const { name: surfaceName, version: surfaceVersion } = optionsOf(surface, "surface", ["name", "version"]);
  const service = {
    url: textOf(where.url, "url"),
    organization: textOf(where.organization, "organization"),
    tenant: textOf(where.tenant, "tenant"),
    externalUser: maybe(where.externalUser, "externalUser"),
    socketPath: maybe(where.socketPath, "socketPath"),
    surfaceName: maybe(surfaceName, "surface.name"),
    surfaceVersion: maybe(surfaceVersion, "surface.version"),
    ...keyOf(token, "token"),
  };
  const line = new SharedLine(
    (hooks) => Line.uipath(service, hooks),
    async () => (typeof token === "function" ? token() : undefined),
  );

  /** @param {{ id?: string, request?: string }} which @param {Record<string, unknown>} given */
  const planned = (which, given) => {
    const resumeWithin = absenceOf(given.resumeWithin);
    const answerUnflagged = switchOf(given, "answerUnflagged", false);
    const options = { ...service, ...which, ...limitsOf(given.limits), resumeWithin, answerUnflagged };
    return planOf(core, which.id ?? "", given, token, (declarations, handlers, hooks) =>
      Session.uipath(line.current, options, declarations, handlers, hooks),
    );
  };
  /** @param {{ id?: string, request?: string }} which @param {Record<string, unknown>} given */
  const opened = async (which, given) => {
    const plan = planned(which, given);
    requireSocket();
    return UiPathConversation.open(plan);
  };
  /** @param {string} name @param {unknown} given @param {unknown} signal */
  const inquired = async (name, given, signal) => Conversation.inquire(planned({ id: "-" }, { signal }), name, given);

  /** @type {UiPathServer} */
  const server = {
    async start(startOptions) {
      const [brought, given] = partedOf(optionsOf(startOptions ?? null, "options"));
      const { resumeWithin, answerUnflagged, ...rest } = given;
      return opened({ request: jsonOf(rest, "options") }, { ...brought, resumeWithin, answerUnflagged });
    },
    async attach(conversationId, attachOptions) {
      const known = [...BROUGHT, "resumeWithin", "answerUnflagged"];
      return opened({ id: textOf(conversationId, "conversationId") }, optionsOf(attachOptions, "options", known));
    },
    async agents(given) {
      const { signal, ...filter } = optionsOf(given, "options", ["folderId", "signal"]);
      return inquired("agents", filter, signal);
    },
    async agent(folderId, agentId, given) {
      const { signal } = optionsOf(given, "options", ["signal"]);
      return inquired("agent", { folderId, agentId }, signal);
    },
    async list(given) {
      const known = ["limit", "page", "sort", "agentReleaseKey", "agentReleaseId", "search", "signal"];
      const { signal, page, ...filter } = optionsOf(given, "options", known);
      return inquired("conversations", { ...filter, cursor: page }, signal);
    },
    async settings(given) {
      const { signal } = optionsOf(given, "options", ["signal"]);
      return inquired("settings", {}, signal);
    },
    async updateSettings(changes, given) {
      const { signal } = optionsOf(given, "options", ["signal"]);
      return inquired("updateSettings", objectOf(changes, "changes"), signal);
    },
  };
  return Object.freeze(server);
}

/** @param {unknown} value @param {string} field */
const maybe = (value, field) => (value === undefined ? undefined : textOf(value, field));
