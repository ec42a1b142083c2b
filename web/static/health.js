// The state of bookmakers and of links, read from /health every few seconds while the page is visible.

const EVERY_MS = 5000;
const PATIENCE_MS = 4000;

/** Calls `onHealth({ checks, links })`, checks by bookmaker id, or with null when there is no answer. */
export class Health {
    #onHealth;
    #isAsking = false;

    constructor(onHealth) {
        this.#onHealth = onHealth;
    }

    /** Ask once, then repeatedly; the promise ends with the first answer, also with a failure. */
    async start() {
        setInterval(() => document.hidden || this.ask(), EVERY_MS);
        document.addEventListener("visibilitychange", () => document.hidden || this.ask());
        await this.ask();
    }

    async ask() {
        if (this.#isAsking) return;
        this.#isAsking = true;
        try {
            this.#onHealth(await asked());
        } finally {
            this.#isAsking = false;
        }
    }
}

// A 503 is an answer too: no bookmaker is serving, and the checks give the reasons.
async function asked() {
    try {
        const response = await fetch("health", { signal: AbortSignal.timeout(PATIENCE_MS) });
        const answer = await response.json();
        return answer.checks ? answer : null;
    } catch {
        return null;
    }
}
