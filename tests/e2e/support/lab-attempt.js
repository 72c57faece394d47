// What becomes of a promise or a call, for a reader in another process.
import * as pagehand from "/pkg/index.js";

/** A thrown value for a reader in another process. */
export function describe(thrown) {
  if (typeof thrown !== "object" || thrown === null) return { type: typeof thrown, message: String(thrown) };
  const { name, message, code, details, retryable, stack } = thrown;
  const isError = thrown instanceof Error || thrown instanceof DOMException;
  const pagehands = pagehand.PagehandError.isInstance(thrown);
  return { type: "object", isError, pagehands, name, message, code, details, retryable, stack };
}

/** While the debugger evaluates, the page's policy is lifted. In a task of its own, code is under it again. */
export const ordinary = () => new Promise((resolve) => setTimeout(resolve));

/** Answers `{ value }` or `{ error }`. */
export async function attempt(work) {
  await ordinary();
  try {
    return { value: (await work()) ?? null };
  } catch (error) {
    return { error: describe(error) };
  }
}
