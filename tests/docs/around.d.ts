// What an app has around the samples.
import type { Conversation, OpenHandsConversation, PendingCall, Server, Tool, UiPathConversation } from "pagehand";

declare global {
  const board: {
    create(title: string, column: string, options?: { signal: AbortSignal }): { title: string; column: string };
    move(id: string, column: string, after: string | null): number;
    schedule(id: string, time: number): void;
    isFull(): boolean;
  };
  const ajv: {
    validate(schema: object, value: unknown): boolean;
    errors: { instancePath: string; keyword: string; message: string }[];
  };
  const createTask: Tool;
  const tools: Tool[];
  const sessionKey: string;
  const auth: { accessToken(): Promise<string>; sessionKey(): Promise<string> };
  const llmKey: string;
  const agent: { kind: string };
  const server: Server;
  const conversation: OpenHandsConversation & UiPathConversation & Conversation;
  const conversationId: string;
  const exchangeId: string;
  const organization: string;
  const tenant: string;
  const agentReleaseId: number;
  const folderId: number;
  const file: File;
  const dialog: (calls: Partial<PendingCall>[] | object[], options: { signal?: AbortSignal }) => Promise<boolean>;
  const withoutEmails: (result: unknown) => unknown;
  const workspace: string;
}
