import { FILES } from "./files.js";

const server = new URLSearchParams(location.search).get("server");
const taken = async (file) => (await fetch(file)).arrayBuffer();
const sources = {};
for (const file of FILES) sources[file.replace(".wasm", "")] = await taken(file);
const script = new Blob([await taken("worker.js")], { type: "text/javascript" });
const worker = new Worker(URL.createObjectURL(script));
worker.onmessage = ({ data }) => (document.querySelector("p").textContent = data);
worker.postMessage({ server, sources });
