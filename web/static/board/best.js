// The best prices of a match at the shown bookmakers. Pure.

/** What these columns offer of a match, each with its column. */
export function offersOf(match, columns) {
    return columns.map((column) => [column, offerOf(match, column)]).filter(([, offer]) => offer);
}

/**
 * For each outcome the highest price at these columns, those that offer it, and whether all of these prices
 * are only collected: they count where no price is live. Empty with no offer but such as are in doubt, and
 * where prices cannot be compared, as they are of goals from now on.
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

/** Whether a best price is at a column whose prices are gross. */
export const isGrossAt = ({ at }) => at.some(({ isGross }) => isGross);

/** The names of the columns that have a best price, with what is to be known of it. */
export function namesOf({ at, isCollected }) {
    const collected = isCollected ? " (collected)" : "";
    return at.map(({ name, isGross }) => name + (isGross ? " (before fees)" : "") + collected).join(", ");
}

/**
 * What a column shows of a match, of several bookmakers the price confirmed last; undefined for nothing.
 */
export function offerOf(match, { of }) {
    const offers = of.flatMap(({ id }) => match.offers.get(id) ?? []);
    return offers.find(({ isSuperseded }) => !isSuperseded) ?? offers[0];
}

/**
 * Whether a price is marked: a best price, or one that is only collected and no less. An offer that is
 * alone or in doubt is not.
 */
export function isMarked(best, price, { isCollected, isDoubted }) {
    if (best === undefined || best.of < 2 || isDoubted) return false;
    return isCollected ? price >= best.price : price === best.price;
}
