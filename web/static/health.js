// The state of each bookmaker, asked of /health now and then while somebody looks.

const EVERY_MS = 5000;
const PATIENCE_MS = 4000;

/** Calls `onHealth(checks)` with the checks by bookmaker id, or null when there is no answer. */
export class Health {
    #onHealth;
    #isAsking = false;

    constructor(onHealth) {
        this.#onHealth = onHealth;
    }

    /** Ask once, then again and again; the promise ends with the first answer, whatever it is. */
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

// 503 is an answer as well: no bookmaker is serving, and this says why.
async function asked() {
    try {
        const response = await fetch("health", { signal: AbortSignal.timeout(PATIENCE_MS) });
        return (await response.json()).checks ?? null;
    } catch {
        return null;
    }
}
