// How a page reaches the stream: by the worker that all tabs share, or by a connection of its own.

import { Connection } from "./connection.js";

const NAME = "oddsboard 1"; // another number with other messages: a tab never meets an older worker

/** Returns what has follow(id), leave(), reconnect(), restart(), and calls `take` as a Connection does. */
export function lineTo(take, onBroken) {
    try {
        return new SharedLine(take, onBroken);
    } catch {
        return new Connection(take); // this browser has no such workers
    }
}

class SharedLine {
    #port;

    constructor(take, onBroken) {
        const worker = new SharedWorker(scriptOf(), { type: "module", name: NAME });
        worker.onerror = onBroken;
        this.#port = worker.port;
        this.#port.onmessage = ({ data }) => take(data);
    }

    follow(id) {
        this.#port.postMessage({ action: "follow", id });
    }

    leave() {
        this.#port.postMessage({ action: "leave" });
    }

    reconnect() {
        this.#port.postMessage({ action: "reconnect" });
    }

    restart() {
        this.#port.postMessage({ action: "restart" });
    }
}

let policy = null;

/** The worker's script, as the policy of the page wants it (Trusted Types). */
function scriptOf() {
    const url = new URL("shared.js", import.meta.url).href;
    if (!globalThis.trustedTypes) return url;
    policy ??= trustedTypes.createPolicy("shared-stream", { createScriptURL: () => url });
    return policy.createScriptURL("");
}
