// Notes when a frame came, when the app was told, and when the handler ran.

/** When the frame of an event came. @type {Map<string, number>} */
const came = new Map();
/** @type {number[]} */ const told = [];
/** @type {number[]} */ const ran = [];

/** What the browser makes of a socket, with an eye on what comes. */
class Watched extends WebSocket {
  constructor(url) {
    super(url);
    this.addEventListener("message", ({ data, timeStamp }) => {
      const id = /"id":\s?"([^"]+)"/.exec(data)?.[1];
      // The acknowledgement lets a call run; it names the announcement.
      const call = data.includes("ClientToolObservation") && /"action_id":\s?"([^"]+)"/.exec(data)?.[1];
      if (id) came.set(id, timeStamp);
      if (call) came.set(`run ${call}`, timeStamp);
    });
  }
}

/** @param {string} url @returns {Promise<string>} the conversation's id */
export async function open(url) {
  globalThis.WebSocket = Watched;
  const { openhands } = await import("/pkg/openhands.js");
  const work = {
    name: "work",
    description: "Works.",
    inputSchema: { type: "object", properties: { item: { type: "string", minLength: 1 } }, required: ["item"] },
    execute: (_, { callId }) => {
      ran.push(performance.now() - came.get(`run ${callId}`));
      return null;
    },
  };
  const agent = { kind: "Agent", tools: [], llm: { usage_id: "agent", model: "openai/none", base_url: `${url}/v1`, api_key: "none" } };
  const conversation = await openhands({ url }).start({ tools: [work], agent, workspace: "project", autotitle: false });
  conversation.on("event", ({ id }) => {
    if (came.has(id)) told.push(performance.now() - came.get(id));
  });
  return conversation.id;
}

export function found() {
  // What the page did not do yet when the load came is not measured: the first tenth.
  const steady = (times) => times.slice(times.length / 10).sort((a, b) => a - b);
  const at = (times, part) => times[Math.floor((times.length - 1) * part)];
  const [events, handlers] = [steady(told), steady(ran)];
  if (handlers.length === 0) throw new Error("no handler ran");
  return { "event p50": at(events, 0.5), "event p99": at(events, 0.99), "handler p50": at(handlers, 0.5), "handler p99": at(handlers, 0.99) };
}
