// The surebet of a match in its details: what it gains, and the stakes for a total.

import { byId, setText } from "./dom.js";
import { amount, percent, rate } from "./format.js";
import { SPOKEN } from "./row.js";
import { rounded, stakes } from "./stakes.js";
import { Table } from "./table.js";

/** Shows a surebet; calls `onPrefer({ total })` and `onPrefer({ step })` with what is to be remembered. */
export class SurebetPanel {
    #total = byId("total");
    #step = byId("step");
    #price = String;
    #stakes = new Table(byId("details-stakes"), [
        { title: "Result", text: ({ outcome }) => SPOKEN[outcome] },
        { title: "At", text: (leg) => leg.bookmaker + termsOf(leg) },
        { title: "Price", text: ({ odds }) => this.#price(odds), className: "figure" },
        { title: "Stake", text: ({ cents }) => cents, className: "right" },
    ]);

    constructor(onPrefer) {
        const total = () => Math.max(this.#total.valueAsNumber || 0, 0);
        this.#total.addEventListener("input", () => onPrefer({ total: total() }));
        this.#step.addEventListener("change", () => onPrefer({ step: Number(this.#step.value) }));
    }

    /** `surebet` is null for none, or where prices are not live. */
    show(surebet, { price, clock }, { total, step }) {
        byId("details-surebet").hidden = surebet === null;
        if (surebet === null) return;
        this.#price = price;
        if (document.activeElement !== this.#total) this.#total.value = String(total);
        this.#step.value = String(step);
        setText(byId("details-profit"), gainOf(surebet, clock));
        const { legs } = surebet;
        const exact = stakes(legs, total);
        const cents = Math.round(step * 100);
        const used = exact && cents > 1 ? rounded(legs, exact.amounts, cents) : exact;
        const shown = (leg, at) => (used ? amount(used.amounts[at]) : percent(leg.stake));
        this.#stakes.show(legs.map((leg, at) => ({ ...leg, key: leg.outcome, cents: shown(leg, at) })));
        setText(byId("details-returned"), exact ? returnOf(exact, used) : failedOf(total));
    }
}

function gainOf({ profit, since, book_sum: sum, legs }, clock) {
    const isNet = legs.some(({ commission, fee_rate: fee }) => commission > 0 || fee > 0);
    const gain = percent(profit) + (isNet ? " after fees and commissions," : "");
    return `${gain} whatever the result, since ${clock.moment(since)} (book sum ${sum.toFixed(4)}).`;
}

function failedOf(total) {
    const why = total > 0 ? "Whole cents of this total may lose. Take a larger total." : "Enter a total.";
    return `${why} These are shares.`;
}

function returnOf(exact, used) {
    const gain = gainIn(used);
    const gained =
        gain > 0 ? `a gain of ${amount(gain)}` : gain < 0 ? `a loss of ${amount(-gain)}` : "no gain";
    const small = used === exact && gain === 0 ? "a gain of less than 0.01" : gained;
    const cost = gainIn(exact) - gain;
    const rounding =
        used === exact ? "" : cost > 0 ? ` Rounding costs ${amount(cost)}.` : " Rounding costs nothing.";
    const staked = used === exact ? "" : ` for ${amount(stakedIn(used))}`;
    return `Returns at least ${amount(used.returned)}${staked}, ${small}.${rounding}`;
}

const stakedIn = ({ amounts }) => amounts.reduce((sum, part) => sum + part);
const gainIn = (divided) => divided.returned - stakedIn(divided);

/** What a bookmaker takes, and for how much its price is known to be good. */
function termsOf({ commission, fee_rate: fee, max_stake: most }) {
    const terms = [
        commission > 0 ? `takes\u00a0${rate(commission)}` : "",
        fee > 0 ? `fee\u00a0${rate(fee)} of p(1\u00a0−\u00a0p)` : "",
        most > 0 ? `at most\u00a0${amount(100 * most)}\u00a0USD` : "",
    ].filter(Boolean);
    return terms.length > 0 ? ` (${terms.join(", ")})` : "";
}
