// Servers within the page: what is measured is what a page does with a frame, not how the frame gets there.

/** The sockets by the conversation that they are for. @type {Map<string, Socket>} */
const sockets = new Map();

/** @param {string} id */
export function socketOf(id) {
  const socket = sockets.get(id);
  if (socket === undefined) throw new Error(`${id} has no socket`);
  return socket;
}

/** What opens at once, and greets as the real ones do. */
class Socket extends EventTarget {
  static CONNECTING = 0;
  static OPEN = 1;
  binaryType = "blob";
  readyState = 0;

  constructor(url) {
    super();
    const [, id] = /\/sockets\/(?:\w+\/)?([^/?]+)/.exec(url) ?? [];
    if (id) sockets.set(id, this);
    setTimeout(() => {
      this.readyState = 1;
      this.dispatchEvent(new Event("open"));
      if (url.includes("/sockets/session/")) this.#says('{"type":"sync","through_seq":-1}');
      if (url.includes("/sockets/events/")) this.#says('{"id":"0","kind":"PauseEvent","source":"user"}');
      if (url.includes("/socket.io/")) this.#says('0{"sid":"s","upgrades":[],"pingInterval":250000,"pingTimeout":200000,"maxPayload":1000000}');
    });
  }

  set onopen(heard) { this.addEventListener("open", heard); }
  set onmessage(heard) { this.addEventListener("message", heard); }
  set onclose(_) {}
  set onerror(_) {}

  /** What conversations with UiPath's service begin with. @param {string} text */
  send(text) {
    if (text.startsWith("40")) setTimeout(() => this.#says('40{"sid":"s"}'));
    if (!text.includes('"startSession"')) return;
    const { conversationId } = JSON.parse(text.slice(2))[1];
    sockets.set(conversationId, this);
    setTimeout(() => this.#says(`42["ConversationEvent",{"conversationId":"${conversationId}","sessionStarted":{}}]`));
  }

  close() {
    this.readyState = 3;
  }

  #says(data) {
    this.dispatchEvent(new MessageEvent("message", { data }));
  }
}

/** Puts the servers in the place of the network. @param {string} version of the agent-server */
export function install(version) {
  const real = globalThis.fetch;
  const answers = [
    [/\/server_info/, () => ({ version, sdk_version: version })],
    [/\/events\/search/, () => ({ items: [], next_page_id: null })],
    [/\/api\/conversations\/([^/?]+)/, (id) => ({ id, execution_status: "idle", client_tools: [] })],
    [/\/exchange/, () => ({ data: [] })],
    [/\/conversation\/([^/?]+)/, (conversationId) => ({ conversationId })],
  ];
  globalThis.fetch = async (request, ...more) => {
    const url = String(request.url ?? request);
    const [known, answer] = url.startsWith("http://server/") ? (answers.find(([path]) => path.test(url)) ?? []) : [];
    if (answer === undefined) return real(request, ...more);
    return new Response(JSON.stringify(answer(known.exec(url)[1])), { headers: { "Content-Type": "application/json" } });
  };
  globalThis.WebSocket = Socket;
  // The ledger is then in memory: what a database takes is no part of a frame.
  Object.defineProperty(globalThis, "indexedDB", { value: undefined });
}
