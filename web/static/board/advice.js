// The advised stakes for a surebet, and the sentences about them. Pure.

import { amount, percent } from "./format.js";
import { mayReturnAll } from "./covers.js";
import { marketOf } from "./markets.js";
import { canDivide, gainOf, rounded, stakes } from "./stakes.js";

const SHARES = "These are shares of the total: two bets at one bookmaker may win together.";
const WEAK = "After one result all stakes come back, with no gain.";
const OVER = "But a stake is above the known limit of its price: take a smaller total.";

/**
 * For the reader's total and step: the stake of each leg as a text (a share of the total if no stakes are
 * safe), a sentence about all of them, and the `gain` with the staked total (empty without stakes).
 */
export function advised(legs, { total, step }) {
    if (!canDivide(legs))
        return { shown: legs.map((leg) => percent(leg.stake)), text: SHARES, gain: "as shares" };
    const exact = stakes(legs, total);
    const cents = Math.round(step * 100);
    const used = cents > 1 ? rounded(legs, total, cents) : exact;
    const shown = legs.map((leg, at) => (used ? amount(used.amounts[at]) : percent(leg.stake)));
    if (used === null) return { shown, text: failedOf(total, exact), gain: "" };
    const isOver = legs.some(({ max_stake: most }, at) => used.amounts[at] > 100 * (most ?? Infinity));
    const isWeak = mayReturnAll(marketOf(legs[0].market));
    const text = isWeak ? `${returnOf(exact, used, "Usually returns")} ${WEAK}` : returnOf(exact, used);
    if (isOver) return { shown, text: `${text} ${OVER}`, gain: "above a limit" };
    const gain = `${amount(gainOf(used))} for ${amount(used.returned - gainOf(used))}`;
    return { shown, text, gain };
}

/** Why there are no stakes: none in whole cents is safe, or only `exact` ones are, and none in steps. */
function failedOf(total, exact) {
    const steps = "Stakes in these steps may lose. Take a larger total, or smaller steps.";
    const cents = "Whole cents of this total may lose. Take a larger total.";
    return `${total > 0 ? (exact ? steps : cents) : "Enter a total."} These are shares.`;
}

function returnOf(exact, used, returns = "Returns at least") {
    const gain = gainOf(used);
    const none = used === exact ? "a gain of less than 0.01" : "no gain";
    const cost = exact === null ? 0 : gainOf(exact) - gain;
    const gained = gain > 0 ? `a gain of ${amount(gain)}` : none;
    const rounding = cost > 0 ? ` Rounding costs ${amount(cost)}.` : "";
    const staked = amount(used.returned - gain);
    return `${returns} ${amount(used.returned)} for ${staked}, ${gained}.${rounding}`;
}
