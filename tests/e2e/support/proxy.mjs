// A stretch of network between the page and a server, that can break.
import { connect, createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** How long a socket may take to end. */
const PATIENCE = 10_000;

/** Passes bytes on, and cuts sockets when it is told to. HTTP requests are left alone. */
export class Proxy {
  #server;
  #target;
  /** @type {Set<import("node:net").Socket>} */ #all = new Set();
  /** @type {Set<() => void>} WebSockets that are open, by what cuts them. */ #sockets = new Set();
  /** @type {{ words: RegExp, forward: boolean, done: () => void } | undefined} */ #trap;
  #refusing = false;
  /** WebSockets so far, those that were refused included. */
  opened = 0;

  /** @param {string} url of the server */
  constructor(url) {
    this.#target = new URL(url);
    this.#server = createServer((client) => this.#accept(client));
  }

  /** @param {string} url */
  static async before(url) {
    const proxy = new Proxy(url);
    await new Promise((resolve) => proxy.#server.listen(0, "127.0.0.1", () => resolve(undefined)));
    return proxy;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** Ends all WebSockets without a close frame. */
  cut() {
    if (this.#sockets.size === 0) throw new Error("there is no WebSocket to cut");
    for (const end of [...this.#sockets]) end();
  }

  /**
   * Cuts the WebSocket on which these words come from the server. Resolves when it has happened.
   * @param {RegExp} words
   * @param {{ forward: boolean }} how whether the page still gets the frame with these words
   */
  cutOn(words, { forward }) {
    return new Promise((resolve) => (this.#trap = { words, forward, done: () => resolve(undefined) }));
  }

  /** From now on new WebSockets fail, or succeed again. @param {boolean} refusing */
  refuse(refusing) {
    this.#refusing = refusing;
  }

  /** Waits until the page has no WebSocket any more. */
  async forsaken() {
    const deadline = Date.now() + PATIENCE;
    while (this.#sockets.size > 0) {
      if (Date.now() > deadline) throw new Error("a WebSocket stays open");
      await pause(20);
    }
  }

  async close() {
    for (const socket of this.#all) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** @param {import("node:net").Socket} client */
  #accept(client) {
    const server = connect(Number(this.#target.port), this.#target.hostname);
    for (const socket of [client, server]) {
      this.#all.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => {
        this.#all.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.once("data", (head) => {
      const text = head.toString("latin1");
      if (!text.startsWith("GET /sockets/")) {
        server.write(head);
        client.pipe(server);
        server.pipe(client);
        return;
      }
      this.opened += 1;
      if (this.#refusing) return client.resetAndDestroy();
      // Without compression the frames can be read here.
      server.write(text.replace(/^sec-websocket-extensions:.*\r\n/im, ""), "latin1");
      client.pipe(server);
      this.#watch(client, server);
    });
  }

  /** @param {import("node:net").Socket} client @param {import("node:net").Socket} server */
  #watch(client, server) {
    const end = () => {
      this.#sockets.delete(end);
      client.resetAndDestroy();
      server.resetAndDestroy();
    };
    this.#sockets.add(end);
    client.once("close", () => this.#sockets.delete(end));
    const split = splitter();
    const pass = (chunk) => {
      for (const piece of split(chunk)) {
        const trap = this.#trap;
        if (!trap?.words.test(piece.toString("latin1"))) {
          client.write(piece);
          continue;
        }
        this.#trap = undefined;
        server.off("data", pass);
        server.resetAndDestroy();
        this.#sockets.delete(end);
        // The end follows the frame, so that the page reads it first.
        if (trap.forward) client.end(piece);
        else client.resetAndDestroy();
        return trap.done();
      }
    };
    server.on("data", pass);
  }
}

/**
 * Cuts what a server sends on a WebSocket into its handshake and its frames. Of a piece that is not whole yet the rest is
 * waited for.
 */
function splitter() {
  let rest = Buffer.alloc(0);
  let shaken = false;
  /** @param {Buffer} chunk */
  return function* (chunk) {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const length = shaken ? frameLength(rest) : headLength(rest);
      if (rest.length < length) return;
      yield rest.subarray(0, length);
      rest = rest.subarray(length);
      shaken = true;
    }
  };
}

/** The length of the answer to the handshake. @param {Buffer} bytes */
function headLength(bytes) {
  const end = bytes.indexOf("\r\n\r\n");
  return end < 0 ? Infinity : end + 4;
}

/** The length of the frame that begins here; of a server's frames none is masked. @param {Buffer} bytes */
function frameLength(bytes) {
  if (bytes.length < 10) return bytes.length >= 2 && bytes[1] < 126 ? 2 + bytes[1] : Infinity;
  const short = bytes[1] & 127;
  if (short < 126) return 2 + short;
  return short === 126 ? 4 + bytes.readUInt16BE(2) : 10 + Number(bytes.readBigUInt64BE(2));
}
