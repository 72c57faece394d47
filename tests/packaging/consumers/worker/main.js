const server = new URLSearchParams(location.search).get("server");
const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
worker.onmessage = ({ data }) => (document.querySelector("p").textContent = data);
worker.onerror = ({ message }) => (document.querySelector("p").textContent = `pagehand: the worker failed: ${message}`);
worker.postMessage(server);
