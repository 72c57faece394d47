// A conversation service on Socket.IO's own server, which plays one call of a tool in every turn.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { Server } from "socket.io";
import { KEY } from "./servers.mjs";
import { toolCall } from "./uipath.mjs";

const [ORGANIZATION, TENANT] = ["acme", "main"];
const API = `/${ORGANIZATION}/${TENANT}/autopilotforeveryone_/api/v1/conversation`;
const CORS = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*", "Access-Control-Allow-Methods": "*" };

/** The service. The library does all that is Socket.IO; what is said is ours. */
export class LibraryService {
  isMock = false;
  /** @type {any[]} Envelopes of clients. */ heard = [];
  /** Acknowledgements that the client gave to events that asked for one. */ acknowledged = 0;
  /** Sockets that were let in. */ admitted = 0;
  pongs = 0;
  /** The tool whose calls are played. */ tool = "";
  #http = createServer((request, response) => void this.#rest(request, response));
  // Pings that come within a test; messages compressed as soon as they can be.
  #io = new Server(this.#http, { transports: ["websocket"], pingInterval: 300, pingTimeout: 5_000, perMessageDeflate: { threshold: 0 } });

  /** @param {import("./servers.mjs").Target} target */
  constructor(target) {
    this.target = target;
    this.name = target.name;
    this.#io.use((socket, next) => {
      const known = socket.handshake.auth.token === KEY && socket.handshake.query["x-uipath-internal-tenantid"] === TENANT;
      next(known ? undefined : Object.assign(new Error("Unauthorized"), { data: { code: 401 } }));
    });
    this.#io.on("connection", (socket) => {
      this.admitted += 1;
      socket.conn.on("packet", ({ type }) => void (this.pongs += Number(type === "pong")));
      socket.on("ConversationEvent", (envelope) => this.#hear(socket, envelope));
    });
  }

  get url() {
    return `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (this.#http.address()).port}`;
  }

  address({ url = this.url, key = KEY } = {}) {
    return { url, organization: ORGANIZATION, tenant: TENANT, token: key };
  }

  /** @param {string} _ @param {object} options */
  starting(_, options) {
    return { agentReleaseId: 7, folderId: 11, ...options };
  }

  listen() {
    return new Promise((resolve) => this.#http.listen(0, "127.0.0.1", () => resolve(this)));
  }

  /** Waits for so many answers to pings. @param {number} count */
  async ponged(count) {
    while (this.pongs < count) await pause(40);
  }

  /** Sends everybody away, as the library does: `41`, or with the transport. @param {boolean} transport */
  disconnect(transport) {
    this.#io.disconnectSockets(transport);
  }

  async stop() {
    await this.#io.close();
  }

  /** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
  async #rest(request, response) {
    const path = (request.url ?? "").split("?")[0];
    if (path.startsWith("/socket.io/")) return;
    const answer = (/** @type {number} */ status, /** @type {object} */ body) =>
      response.writeHead(status, { ...CORS, "Content-Type": "application/json" }).end(JSON.stringify(body));
    if (request.method === "OPTIONS") response.writeHead(204, CORS).end();
    else if (request.headers.authorization !== `Bearer ${KEY}`) answer(401, { message: "Unauthorized" });
    else if (request.method === "POST" && path === API) answer(200, { .../** @type {object} */ (await json(request)), conversationId: randomUUID() });
    else if (path.endsWith("/exchange")) answer(200, { data: [] });
    else answer(404, { message: "there is no such thing" });
  }

  /** @param {import("socket.io").Socket} socket @param {any} envelope */
  #hear(socket, envelope) {
    this.heard.push(envelope);
    const { conversationId, exchange } = envelope;
    const say = (/** @type {object} */ members) => socket.emit("ConversationEvent", { conversationId, ...members }, socket.id);
    const tell = (/** @type {object} */ message) => say({ exchange: { exchangeId: exchange.exchangeId, message: { messageId: "answer", ...message } } });
    if (envelope.startSession) say({ sessionStarted: {} });
    if (exchange?.message?.endMessage) {
      tell({ startMessage: { role: "assistant" } });
      tell({ toolCall: { toolCallId: "c", startToolCall: { toolName: this.tool, input: { n: 1 }, isClientSideTool: true } } });
      const go = { exchangeId: exchange.exchangeId, message: { messageId: "answer", toolCall: { toolCallId: "c", executingToolCall: { input: { n: 1 } } } } };
      socket.emit("ConversationEvent", { conversationId, exchange: go }, () => (this.acknowledged += 1));
    }
    if (toolCall(envelope).endToolCall) {
      tell({ endMessage: {} });
      say({ exchange: { exchangeId: exchange.exchangeId, endExchange: {} } });
    }
  }
}
