// The best prices of a match at the shown bookmakers. Pure.

/** The offers of these columns for a match, each with its column. */
export function offersOf(match, columns) {
    return columns.map((column) => [column, offerOf(match, column)]).filter(([, offer]) => offer);
}

/**
 * For each outcome: the highest price at these columns, the columns that offer it, and whether all of these
 * prices are only collected (these count only if no price is live). Empty if all offers are in doubt, or if
 * prices cannot be compared because some count only later goals.
 */
export function bestOf(match, columns) {
    const offers = offersOf(match, columns);
    const sound = offers.filter(([, offer]) => !offer.isDoubted);
    if (sound.length === 0 || match.isOtherBet) return [];
    const live = sound.filter(([, offer]) => !offer.isCollected);
    const counted = live.length > 0 ? live : sound;
    return match.market.outcomes.map((_, index) => {
        const price = Math.max(...counted.map(([, offer]) => offer.prices[index]));
        const at = counted.filter(([, offer]) => offer.prices[index] === price).map(([column]) => column);
        return { price, at, isCollected: live.length === 0, of: offers.length };
    });
}

/** Whether a column with a best price has gross prices. */
export const isGrossAt = ({ at }) => at.some(({ isGross }) => isGross);

/** The names of the columns with a best price, and notes on it. */
export function namesOf({ at, isCollected }) {
    const collected = isCollected ? " (collected)" : "";
    return at.map(({ name, isGross }) => name + (isGross ? " (before fees)" : "") + collected).join(", ");
}

/**
 * A column's offer for a match; of several bookmakers, the one confirmed last. Undefined for none.
 */
export function offerOf(match, { of }) {
    const offers = of.flatMap(({ id }) => match.offers.get(id) ?? []);
    return offers.find(({ isSuperseded }) => !isSuperseded) ?? offers[0];
}

/**
 * Whether a price is marked: a best price, or a collected price that is at least as high. A single offer
 * and an offer in doubt are never marked.
 */
export function isMarked(best, price, { isCollected, isDoubted }) {
    if (best === undefined || best.of < 2 || isDoubted) return false;
    return isCollected ? price >= best.price : price === best.price;
}
