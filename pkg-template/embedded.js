// @ts-check
// What the entry `pagehand/inline` has in the place of addresses.

/**
 * The bytes in a base64 text. Fetching it as a `data:` URL would be shorter, but policies forbid that.
 * @param {string} text
 */
export function bytesOf(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = characters.charCodeAt(at);
  return bytes;
}
