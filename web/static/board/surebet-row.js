// A row of the surebets: the gain, the legs with the reader's stakes, the ages, and how long it holds.

import { advised } from "./advice.js";
import { element, part, setText } from "./dom.js";
import { duration, percent } from "./format.js";
import { ANY_MARKET, markOf, shortOf, spokenOf } from "./markets.js";
import { dayOf, identified, isolated } from "./row.js";
import { termsOf } from "./surebet-panel.js";

/** Like `matchRow`, for a match with a surebet; `how` also has `agesOf(match)` (ages.js), `preferences`. */
export function surebetRow(_, { key, outcomes }) {
    const isAny = key === ANY_MARKET;
    const [hour, date] = ["hour", "day"].map((name) => element("span", name));
    const [home, away] = ["home", "away"].map(() => element("span", "team", { dir: "auto" }));
    const [profit, usual, gain] = ["surebet", "usual", "gain"].map((name) => element("span", name));
    const title = element("span");
    const of = isAny ? [element("span", "of-market", {}, element("span", "unseen", {}, ", "), title)] : [];
    const [stands, oldest, ends] = ["", "", ""].map((name) => element("span", name));
    const legs = outcomes.map(() => legRow());
    const when = part("gridcell", "when", hour, date);
    const who = part("rowheader", "who", home, element("span", "unseen", {}, " against "), away, ...of);
    const gains = part("gridcell", "gains", profit, usual, gain);
    const all = part("gridcell", "legs", ...legs.map((leg) => leg.element));
    const age = part("gridcell", "age", stands, oldest, ends);
    const row = identified(part("row", "match sure", when, who, gains, all, age));
    return {
        element: row,
        fill({ match }, { trust, clock, price, surebet, agesOf, preferences }) {
            setText(hour, match.start === null ? "–" : clock.time(match.start));
            setText(date, dayOf(match, clock, true));
            setText(home, match.home);
            setText(away, match.away);
            who.title = [match.home, match.away].map(isolated).join(" – ");
            const shown = trust === "live" ? surebet : null;
            const advice = shown && advised(shown.legs, preferences);
            if (isAny) {
                setText(title, shortOf(match.market));
                row.style.setProperty("--outcomes", match.market.outcomes.length);
            }
            setText(profit, shown ? percent(shown.profit) : "");
            profit.classList.toggle("weak", Boolean(shown?.weak));
            setText(usual, shown?.weak ? `usually ${percent(shown.usual_profit)}` : "");
            setText(gain, advice ? advice.gain || "no safe stakes" : "");
            gains.title = advice?.text ?? "";
            legs.forEach((leg, at) => {
                leg.element.hidden = at >= match.market.outcomes.length;
                leg.fill(shown?.legs[at], advice?.shown[at], price);
            });
            const ages = shown && agesOf(match);
            setText(stands, shown && ages ? `stands for ${duration(ages.since(shown.since))}` : "");
            setText(oldest, shown ? oldestOf(shown, ages) : "");
            setText(ends, shown && ages ? endOf(shown, ages) : "");
        },
    };
}

function legRow() {
    const parts = ["outcome", "odds", "at", "stake"].map((name) => element("span", name));
    const spoken = element("span", "unseen");
    const [outcome, odds, at, stake] = parts;
    outcome.ariaHidden = "true";
    return {
        element: element("div", "leg", {}, spoken, ...parts),
        fill(leg, staked, price) {
            setText(spoken, leg ? `${spokenOf(leg)}: ` : "");
            setText(outcome, leg ? markOf(leg) : "");
            setText(odds, leg ? price(leg.odds) : "–");
            setText(at, leg ? leg.bookmaker + termsOf(leg) : "");
            at.title = at.textContent;
            setText(stake, staked ?? "");
        },
    };
}

function oldestOf({ legs }, ages) {
    const known = ages ? legs.map(({ id }) => ages.ofConfirmation(id)) : [null];
    return known.includes(null) ? "" : `confirmed ${duration(Math.max(...known))} ago`;
}

/** When it ends unless it is confirmed again; the stream does not send mere confirmations. */
function endOf({ until }, ages) {
    const left = ages.until(until);
    return left > 0 ? `${duration(left)} left, or more` : "confirmed again since";
}
