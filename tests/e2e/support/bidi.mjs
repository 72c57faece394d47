// WebDriver BiDi, as far as the tests speak it: https://w3c.github.io/webdriver-bidi/.
import { WebSocket } from "ws";

/** A connection to a browser: commands with answers, and events. */
export class Bidi {
  #socket;
  #commands = 0;
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */ #waiting = new Map();
  /** @type {Map<string, (params: any) => void>} */ #listeners = new Map();

  /** @param {WebSocket} socket */
  constructor(socket) {
    this.#socket = socket;
    socket.on("message", (text) => this.#hear(JSON.parse(String(text))));
    socket.on("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the browser is gone"));
      this.#waiting.clear();
    });
  }

  /** @param {string} url */
  static async connect(url) {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return new Bidi(socket);
  }

  /** Calls this at each event of the kind. @param {string} method @param {(params: any) => void} listener */
  on(method, listener) {
    this.#listeners.set(method, listener);
  }

  /** @param {string} method @param {object} params @returns {Promise<any>} */
  send(method, params) {
    const id = (this.#commands += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  close() {
    this.#socket.close();
  }

  /** @param {any} message */
  #hear({ type, id, method, params, result, error, message }) {
    if (type === "event") return this.#listeners.get(method)?.(params);
    const command = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (type === "error") command?.reject(new Error(`${error}: ${message}`));
    else command?.resolve(result);
  }
}
