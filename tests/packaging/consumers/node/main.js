// Node 20 has no WebSocket of its own.
import WebSocket from "ws";
import { play } from "./app.js";

globalThis.WebSocket ??= WebSocket;
console.log(await play(process.argv[2]));
