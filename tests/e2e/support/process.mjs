// Child processes: started, waited for, and ended by their own pid.
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { output } from "./environment.mjs";

/** How long a process may take to come up: the real server loads for six seconds of CPU, and two of them may load at once. */
export const START = 180_000;
/** How long it may take to end by itself. */
const FAREWELL = 5_000;

const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** A program that runs beside the tests, with its output in a file. */
export class Child {
  #child;
  #ended;
  #log;

  /**
   * @param {string} label names the log file
   * @param {string} program
   * @param {string[]} options
   * @param {Record<string, string>} [environment] what it is told beside what this process was told
   */
  constructor(label, program, options, environment) {
    const test = basename(process.argv[1] ?? "e2e", ".test.mjs");
    this.#log = join(output, `${test}-${label}-${process.pid}.log`);
    const log = openSync(this.#log, "a");
    this.#child = spawn(program, options, { stdio: ["ignore", log, log], env: { ...process.env, ...environment } });
    closeSync(log);
    running.add(this.#child);
    // Tests end when they are through, even if a server was forgotten.
    this.#child.unref();
    this.#ended = new Promise((resolve) => {
      this.#child.once("error", resolve);
      this.#child.once("exit", (code, signal) => resolve(new Error(`it ended: ${signal ?? code}`)));
    });
    this.#ended.then(() => running.delete(this.#child));
  }

  /** What it has printed. */
  get output() {
    return readFileSync(this.#log, "utf8");
  }

  /**
   * Asks until there is an answer.
   * @template T
   * @param {string} what
   * @param {() => T | Promise<T>} ask answers with nothing, or throws, as long as there is none
   * @returns {Promise<NonNullable<T>>}
   */
  async until(what, ask) {
    const deadline = Date.now() + START;
    let over;
    this.#ended.then((reason) => (over = reason));
    for (;;) {
      try {
        const answer = await ask();
        if (answer) return answer;
      } catch {
        // Not yet.
      }
      if (over || Date.now() > deadline) {
        const reason = over?.message ?? "it takes too long";
        throw new Error(`waiting for ${what}: ${reason}\n${this.output.slice(-2_000)}`);
      }
      await pause(40);
    }
  }

  /** Ends it without a chance to say farewell. */
  async kill() {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  async stop() {
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), FAREWELL);
    await this.#ended;
    clearTimeout(timer);
  }
}

/** A port on 127.0.0.1 that nobody listens on. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
