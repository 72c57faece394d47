const server = new URLSearchParams(location.search).get("server");
await navigator.serviceWorker.register("./worker.js", { type: "module" });
const { active } = await navigator.serviceWorker.ready;
navigator.serviceWorker.onmessage = ({ data }) => (document.querySelector("p").textContent = data);
active.postMessage(server);
