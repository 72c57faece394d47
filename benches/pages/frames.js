// Reads recorded frames in one of several ways, and times it.
import { install, socketOf } from "./wire.js";

/** Rounds over all recordings: the first ones are for the engine to optimise what it runs. */
const [WARM, TIMED] = [8, 11];
const TOPICS = ["call", "approval", "status", "message", "delta", "event", "connection", "tools", "notice", "error", "condition", "label"];

let told = 0;
const hear = () => {
  told += 1;
};

function raise(error) {
  throw error;
}

/** How each reader comes to hear the frames of a conversation. It answers with what ends that. */
const READERS = {
  /** The least that an app can do. */
  parse(which, id) {
    const socket = new WebSocket(`ws://server/sockets/${id}`);
    const uipath = which === "uipath";
    socket.onmessage = ({ data }) => {
      const parsed = uipath ? JSON.parse(data.slice(2))[1] : JSON.parse(data);
      const event = parsed.event ?? parsed;
      switch (event.kind) {
        case "ActionEvent": return hear(event.action);
        case "ObservationEvent": return hear(event.observation);
        case "MessageEvent": return hear(event.llm_message);
        case "ConversationStateUpdateEvent": return hear(event.key);
        default: return hear(event);
      }
    };
    return () => socket.close();
  },
  async callbackClient(_, id) {
    const { WebSocketCallbackClient } = await import("/peers/openhands.js");
    const client = new WebSocketCallbackClient({ host: "http://server", conversationId: id, callback: hear, onError: raise });
    client.start();
    return () => client.stop();
  },
  async remoteConversation(_, id) {
    const { RemoteConversation, RemoteWorkspace } = await import("/peers/openhands.js");
    const workspace = new RemoteWorkspace({ host: "http://server", workingDir: "/workspace" });
    const conversation = new RemoteConversation({}, workspace, { callback: hear, onError: raise, conversationId: id });
    await conversation.startWebSocketClient();
    return () => conversation.close();
  },
  everything: (which, id) => pagehand(which, id, TOPICS),
  calls: (which, id) => pagehand(which, id, ["call"]),
};

async function pagehand(which, id, topics) {
  const { openhands, uipath } = await import("/pkg/index.js");
  const server =
    which === "uipath"
      ? uipath({ url: "http://server", organization: "o", tenant: "t", token: "k" })
      : openhands({ url: "http://server" });
  const tool = { name: "open_file_viewer", description: "Opens.", inputSchema: { type: "object" }, execute: () => null };
  const conversation = await server.attach(id, { tools: [tool] });
  for (const topic of topics) conversation.on(topic, hear);
  return () => conversation.close();
}

/**
 * Every recording is heard in a conversation of its own, as it was recorded.
 * @param {{ reader: keyof typeof READERS, which: string, recordings: string[][] }} given
 * @returns {Promise<number>} microseconds a frame
 */
export async function measure({ reader, which, recordings }) {
  install(which === "session" ? "1.58.2" : "1.44.0");
  const times = [];
  for (let round = 0; round < WARM + TIMED; round += 1) {
    const ids = recordings.map(() => crypto.randomUUID());
    const ends = await Promise.all(ids.map((id) => READERS[reader](which, id)));
    await pause(10);
    const frames = recordings.flatMap((texts, at) => {
      const socket = socketOf(ids[at]);
      return texts.map((text) => [socket, new MessageEvent("message", { data: flat(text, ids[at]) })]);
    });
    await pause(10);
    const start = performance.now();
    for (const [socket, event] of frames) socket.dispatchEvent(event);
    // What hangs on promises belongs to the frames.
    await turn();
    if (round >= WARM) times.push(((performance.now() - start) * 1_000) / frames.length);
    await Promise.all(ends.map((end) => end()));
  }
  if (reader !== "calls" && told < TIMED) throw new Error(`${reader} was told nothing`);
  globalThis.told = told;
  times.sort((a, b) => a - b);
  return times[TIMED >> 1];
}

/** A text as it comes from a network: not one that the engine has composed, or seen before. */
function flat(text, id) {
  return new TextDecoder().decode(new TextEncoder().encode(text.replace(/"conversationId":"[^"]*"/, `"conversationId":"${id}"`)));
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A turn of the event loop. */
function turn() {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = resolve;
    port2.postMessage(null);
  });
}
