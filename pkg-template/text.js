// @ts-check

const encoder = new TextEncoder();

/**
 * Writes the text of a message into a buffer of the core's, as UTF-8.
 * @param {MessageEvent} event
 * @param {Uint8Array} buffer
 * @returns {number} its length in bytes; -1 when it is no text, or when the buffer may be too small
 */
export function textInto({ data }, buffer) {
  // A unit of UTF-16 becomes three bytes at most.
  if (typeof data !== "string" || data.length * 3 > buffer.length) return -1;
  return encoder.encodeInto(data, buffer).written;
}
