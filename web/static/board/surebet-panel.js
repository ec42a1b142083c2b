// The surebet of a match in its details: its gain, and the stakes for a total.

import { advised } from "./advice.js";
import { byId, setText } from "./dom.js";
import { amount, percent, rate } from "./format.js";
import { spokenOf } from "./markets.js";
import { Table } from "./table.js";

/** Shows a surebet; calls `onPrefer({ total })` and `onPrefer({ step })` with preferences to remember. */
export class SurebetPanel {
    #total = byId("total");
    #step = byId("step");
    #price = String;
    #stakes = new Table(byId("details-stakes"), [
        { title: "Result", text: (leg) => spokenOf(leg) },
        { title: "At", text: (leg) => leg.bookmaker + termsOf(leg) },
        { title: "Price", text: ({ odds }) => this.#price(odds), className: "figure" },
        { title: "Stake", text: ({ cents }) => cents, className: "right" },
    ]);

    constructor(onPrefer) {
        const total = () => Math.max(this.#total.valueAsNumber || 0, 0);
        this.#total.addEventListener("input", () => onPrefer({ total: total() }));
        this.#step.addEventListener("change", () => onPrefer({ step: Number(this.#step.value) }));
    }

    /** `surebet` is null for none, or if prices are not live. */
    show(surebet, { price, clock }, { total, step }) {
        byId("details-surebet").hidden = surebet === null;
        if (surebet === null) return;
        this.#price = price;
        if (document.activeElement !== this.#total) this.#total.value = String(total);
        this.#step.value = String(step);
        setText(byId("details-profit"), gainOf(surebet, clock));
        const { legs } = surebet;
        const { shown, text } = advised(legs, { total, step });
        this.#stakes.show(legs.map((leg, at) => ({ ...leg, key: leg.outcome, cents: shown[at] })));
        setText(byId("details-returned"), text);
    }
}

function gainOf({ profit, usual_profit: usual, weak, since, book_sum: sum, legs }, clock) {
    const isNet = legs.some(({ commission, fee_rate: fee }) => commission > 0 || fee > 0);
    const gain = percent(profit) + (isNet ? " after fees and commissions," : "");
    if (weak) {
        const rest = `${percent(usual)} after every other result, since ${clock.moment(since)}.`;
        return `${gain} if all stakes come back, ${rest}`;
    }
    return `${gain} whatever the result, since ${clock.moment(since)} (book sum ${sum.toFixed(4)}).`;
}

/** A bookmaker's commission and fee, and the stake for which its price is known to be good. */
export function termsOf({ commission, fee_rate: fee, max_stake: most }) {
    const terms = [
        commission > 0 ? `takes\u00a0${rate(commission)}` : "",
        fee > 0 ? `fee\u00a0${rate(fee)} of p(1\u00a0−\u00a0p)` : "",
        most > 0 ? `at most\u00a0${amount(100 * most)}\u00a0USD` : "",
    ].filter(Boolean);
    return terms.length > 0 ? ` (${terms.join(", ")})` : "";
}
