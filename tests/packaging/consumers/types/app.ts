import { openhands, PagehandError, tool } from "pagehand";
import { init } from "pagehand/inline";
import * as only from "pagehand/openhands";
import { uipath } from "pagehand/uipath";

const double = tool({
  name: "double",
  description: "Doubles a number.",
  inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const,
  execute: ({ n }) => n * 2,
});

export const codeOf = (error: unknown): string | undefined => (PagehandError.isInstance(error) ? error.code : undefined);

export async function start(): Promise<string> {
  await init({ openhands: new Uint8Array(), schema: true });
  const conversation = await openhands({ url: "http://localhost:8000" }).start({ tools: [double], agent: {}, workspace: "/workspace" });
  const same: typeof openhands = only.openhands;
  // @ts-expect-error a token is missing
  uipath({ url: "", organization: "", tenant: "" });
  await same({ url: "http://localhost:8000" }).attach(conversation.id, { tools: [double] });
  return conversation.id;
}
