// What the facade uses of the schema engine's wasm-bindgen glue. The exports are in `crates/schema/src/wasm.rs`.
export default function init(source: { module_or_path: unknown }): Promise<unknown>;

export class Engine {
  constructor();
  compile(schema: string): number;
  check(id: number, instance: string, masked: boolean): string;
  release(id: number): void;
  free(): void;
}
