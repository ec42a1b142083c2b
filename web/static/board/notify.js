// Notifications of the browser for new surebets, if the reader has switched them on.

import { isCertain } from "./filters.js";
import { percent } from "./format.js";
import { markOf } from "./markets.js";

/** Whether notifications are allowed, after asking the reader if need be. */
export async function isAllowed() {
    if (!("Notification" in globalThis)) return false;
    return (await Notification.requestPermission()) === "granted";
}

/** Notifies of each surebet once: not of those that are there at first, nor while prices are not live. */
export class Notifier {
    #known = null; // what was there before, by match and since when
    #market = null; // of these

    show({ trust, surebetOf, columns }, { board, preferences, choice }) {
        if (choice.market !== this.#market) [this.#known, this.#market] = [null, choice.market];
        if (trust !== "live" || !preferences.notify) {
            if (!preferences.notify) this.#known = null;
            return;
        }
        const isSure = isCertain(surebetOf, preferences);
        const found = board.matches.flatMap((match) => {
            const surebet = surebetOf(match);
            const isMeant = isSure(match);
            return isMeant ? [[`${match.key} ${surebet.since}`, match, surebet]] : [];
        });
        const before = this.#known;
        this.#known = new Set(found.map(([key]) => key));
        if (before === null || columns.length === 0) return;
        for (const [key, match, surebet] of found) if (!before.has(key)) notify(match, surebet);
    }
}

function notify({ key, home, away }, { profit, legs }) {
    const body = legs.map((leg) => `${markOf(leg)}: ${leg.odds} at ${leg.bookmaker}`).join("\n");
    try {
        new Notification(`${percent(profit)} on ${home} – ${away}`, { body, tag: key });
    } catch {
        // a browser of a phone has them for service workers only
    }
}
