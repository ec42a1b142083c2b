// The state of bookmakers and of links, read from /health every few seconds while the page is visible.

const EVERY_MS = 5000;
const URGENT_MS = 1500; // while the prices are not live
const PATIENCE_MS = 4000;

/** Calls `onHealth({ checks, links, epoch })`, checks by bookmaker id, or with null for no answer. */
export class Health {
    #onHealth;
    #isUrgent;
    #isAsking = false;
    #askedAt = performance.now();

    /** `isUrgent()` says whether the page waits for the service. */
    constructor(onHealth, isUrgent = () => false) {
        this.#onHealth = onHealth;
        this.#isUrgent = isUrgent;
    }

    /** Take the first answer, then request more; the promise ends with the first answer or failure. */
    async start(first) {
        setInterval(() => this.#isDue() && this.ask(), URGENT_MS);
        document.addEventListener("visibilitychange", () => document.hidden || this.ask());
        await this.#take(first);
    }

    async ask() {
        if (!this.#isAsking) await this.#take(askHealth());
    }

    #isDue() {
        const waited = performance.now() - this.#askedAt;
        return !document.hidden && (this.#isUrgent() || waited > EVERY_MS - URGENT_MS / 2);
    }

    async #take(answer) {
        this.#isAsking = true;
        this.#askedAt = performance.now();
        try {
            this.#onHealth(await answer);
        } finally {
            this.#isAsking = false;
        }
    }
}

/** The answer, null for none. A 503 counts: no bookmaker is serving, and its checks say why. */
export async function askHealth() {
    try {
        const response = await fetch("health", { signal: AbortSignal.timeout(PATIENCE_MS) });
        const answer = await response.json();
        return answer.checks ? answer : null;
    } catch {
        return null;
    }
}
