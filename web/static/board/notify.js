// Notifications of the browser for new surebets, if the reader has switched them on.

import { isCertain } from "./filters.js";
import { percent } from "./format.js";
import { markOf } from "./markets.js";

/** Whether notifications are allowed; asks the reader if necessary. */
export async function isAllowed() {
    if (!("Notification" in globalThis)) return false;
    return (await Notification.requestPermission()) === "granted";
}

/** Notifies of each new surebet once; not of the first list's, and not while prices are not live. */
export class Notifier {
    #known = null; // known surebets, by match and begin
    #market = null; // the bookmakers of these surebets

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
        for (const [key, match, surebet] of found) if (!before.has(key)) notifyOf(match, surebet);
    }
}

function notifyOf({ key, home, away }, { profit, legs }) {
    const body = legs.map((leg) => `${markOf(leg)}: ${leg.odds} at ${leg.bookmaker}`).join("\n");
    notify(`${percent(profit)} on ${home} – ${away}`, body, key);
}

/** Notify of something; a later notification with the same tag replaces it, also one of another tab. */
export function notify(title, body, tag, onClick = () => {}) {
    try {
        new Notification(title, { body, tag }).onclick = onClick;
    } catch {
        // phones' browsers allow this only in service workers
    }
}
