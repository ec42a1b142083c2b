// Connects a page to the stream: by the worker that all tabs share, or by a connection of its own.

import { Connection } from "./connection.js";

const NAME = "oddsboard 3"; // a new number for new messages: a tab never gets an older worker

/**
 * Returns an object with follow(id), leave(), reconnect() and restart(). It calls `take` like a Connection
 * of this market, perhaps once more after `leave`.
 */
export function lineTo(market, take, onBroken) {
    try {
        return new SharedLine(market, take, onBroken);
    } catch {
        return new Connection(take, market); // this browser has no shared workers
    }
}

class SharedLine {
    #port;
    #market;

    constructor(market, take, onBroken) {
        this.#market = market;
        const worker = new SharedWorker(scriptOf(), { type: "module", name: NAME });
        worker.onerror = onBroken;
        this.#port = worker.port;
        this.#port.onmessage = ({ data }) => take(data);
    }

    follow(id) {
        this.#post("follow", id);
    }

    leave() {
        this.#post("leave");
    }

    reconnect() {
        this.#post("reconnect");
    }

    restart() {
        this.#post("restart");
    }

    #post(action, id = null) {
        this.#port.postMessage({ action, id, market: this.#market });
    }
}

let policy = null;

/** The worker's script, as the page's policy requires (Trusted Types). */
function scriptOf() {
    const url = new URL("shared.js", import.meta.url).href;
    if (!globalThis.trustedTypes) return url;
    policy ??= trustedTypes.createPolicy("shared-stream", { createScriptURL: () => url });
    return policy.createScriptURL("");
}
