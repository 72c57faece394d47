// Conversations with UiPath's agents, questions about single calls, and guards.
import { tool, uipath, type Citation, type Conversation, type Edit, type Guard, type UiPathConversation } from "pagehand";

const server = uipath({ url: "https://api.uipath.com", organization: "o", tenant: "t", token: async () => "token" });
// @ts-expect-error: nobody is let in without a token
uipath({ url: "https://api.uipath.com", organization: "o", tenant: "t" });

const guards: Guard[] = [
  { before: ({ tool, arguments: args }) => (tool === "wipe" ? { block: "no" } : { arguments: { ...args, safe: true } }) },
  { after: async ({ result }) => ({ result: [result] }) },
  { before() {}, after: () => true },
];
// @ts-expect-error: a verdict has another form
const odd: Guard = { before: () => "no" };
odd satisfies Guard;

const conversation = await server.start({ agentReleaseId: 7, folderId: 11, guards, tools: [tool({ name: "create task", description: "d", confirm: true })] });
conversation satisfies UiPathConversation;
conversation satisfies Conversation;
// @ts-expect-error: which agent, and where
server.start({ tools: [] });
// @ts-expect-error: only OpenHands copies conversations
conversation.fork();

conversation.on("approval", async ({ calls, approve, reject }) => {
  const [call] = calls;
  if (call?.editable) await approve({ arguments: { title: "x" } });
  // @ts-expect-error: arguments are an object
  await approve({ arguments: "x" });
  await reject("no");
});
conversation.on("call", ({ edits }) => edits satisfies Edit[] | undefined);
conversation.on("message", ({ citations }) => citations satisfies Citation[] | undefined);
conversation.on("condition", ({ level, over }) => {
  over satisfies boolean;
  // @ts-expect-error: no such level
  level satisfies "planet";
});
conversation.on("label", ({ text }) => text satisfies string);
await conversation.send([{ type: "text", text: "Look:" }, await conversation.upload(new Blob(["x"]), { name: "x.txt" })]);
await conversation.stop();
const { conversations, next } = await server.list({ sort: "descending" });
conversations satisfies object[];
next satisfies string | null;
