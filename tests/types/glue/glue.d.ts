// What the facade uses of any core's wasm-bindgen glue. The exports are in `src/wasm/mod.rs`.

export default function init(source: { module_or_path: unknown }): Promise<unknown>;
export function begin(report: (message: string) => void, watch: () => void): void;
export function stuck(): string;
export function giveUp(): void;

export class Session {
  protected constructor();
  listen(topics: number): void;
  open(operation: number): void;
  send(operation: number, content: string, run: boolean, approve: boolean): void;
  run(operation: number, approve: boolean): void;
  answer(operation: number, approval: string, accept: boolean, reason: string, args?: string | null, say?: string | null): void;
  stop(operation: number, reason: string): void;
  do(operation: number, name: string, given: string): void;
  feed(text: string, past: boolean): void;
  idle(operation: number): void;
  history(operation: number, limit: number, newestFirst: boolean, page?: string | null): void;
  declare(operation: number, definition: string, handler: Function): void;
  undeclare(operation: number, name: string): void;
  cancel(operation: number, call: string, reason: string): void;
  close(operation: number): void;
  abandon(operation: number): void;
  free(): void;
}
