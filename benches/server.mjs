// The stand-in for the agent servers, started and ended by its own process id.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { mockServer } from "./environment.mjs";

export class Server {
  #child;

  /** @param {import("node:child_process").ChildProcess} child @param {string} url */
  constructor(child, url) {
    this.#child = child;
    this.url = url;
  }

  static async start() {
    const child = spawn(mockServer, ["--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
    process.once("exit", () => child.kill("SIGKILL"));
    const [line] = await once(createInterface(child.stdout), "line");
    return new Server(child, line.replace(/^.* /, ""));
  }

  /** What the agent whose model has this name does. @param {string} name @param {object[]} steps */
  script(name, steps) {
    return this.#ask("PUT", `/mock/scripts/${name}`, { steps });
  }

  /** Sends a text to all sockets of a conversation. @param {string} conversation @param {string} raw */
  frame(conversation, raw) {
    return this.#ask("POST", `/mock/frame/${conversation}`, { raw });
  }

  async stop() {
    this.#child.kill("SIGTERM");
    await once(this.#child, "exit");
  }

  /** @param {string} method @param {string} path @param {unknown} body */
  async #ask(method, path, body) {
    const response = await fetch(this.url + path, { method, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}
