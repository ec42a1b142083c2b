// When a rule of this browser fires: like the service's rules of prices and surebets (docs/rules.md). Pure.

const PARTS = { price: 100, surebet: 10 }; // one part of the threshold is the hysteresis
const HOLDS = "holds"; // it fired, or was only noted

/** A rule's subjects: each price that it is about, or the match with its surebet. */
export class Transitions {
    #rule;
    #off;
    #subjects = new Map(); // HOLDS, or the order of the commit since which it does not hold

    /** `rule` is one of alert-rule.js. */
    constructor(rule) {
        this.#rule = rule;
        this.#off = rule.least - rule.least / (rule.outcome ? PARTS.price : PARTS.surebet);
    }

    /** Note what holds in a fixture of a list, undefined if it is not there: commits may be missing. */
    begin(fixture, order) {
        this.#readings(fixture).forEach((reading) => this.#begin(reading, order));
    }

    /**
     * Take a fixture before and after a commit, each undefined if it was not there; returns the readings
     * that fire, with their `entry` or `legs`. `changed` has the order of the last change of each price
     * (noteChanges), `order` is that of this commit.
     */
    take(before, after, changed, order) {
        const isSame = this.#rule.outcome !== "" || basisOf(before) === basisOf(after);
        return this.#readings(after, changed).filter((reading) => {
            if (isSame && this.#subjects.has(reading.subject)) return this.#fires(reading, order);
            this.#begin(reading, order);
            return false;
        });
    }

    /** The readings of a fixture; forgets the subjects that are not there any more. */
    #readings(fixture, changed = new Map()) {
        const readings = fixture === undefined ? [] : readingsOf(this.#rule, fixture, changed);
        const there = new Set(readings.map(({ subject }) => subject));
        for (const subject of this.#subjects.keys())
            if (!there.has(subject)) this.#subjects.delete(subject);
        return readings;
    }

    #begin({ subject, value }, order) {
        this.#subjects.set(subject, this.#isOff(value) ? order : HOLDS);
    }

    #fires({ subject, value, changed }, order) {
        const known = this.#subjects.get(subject);
        if (known === HOLDS) {
            if (this.#isOff(value)) this.#subjects.set(subject, order);
            return false;
        }
        if (value === null || value < this.#rule.least) return false;
        this.#subjects.set(subject, HOLDS);
        return changed > known;
    }

    #isOff(value) {
        return value === null || value < this.#off;
    }
}

/** Note in `changed`, by entry and outcome, the prices that the commit with this order changed. */
export function noteChanges(changed, before, after, order) {
    const known = new Map(before?.entries.map(({ id, odds }) => [id, odds]));
    for (const { id, odds } of after.entries) {
        for (const [outcome, price] of Object.entries(odds)) {
            const was = known.get(id)?.[outcome];
            if (was !== undefined && was !== price) changed.set(`${id} ${outcome}`, order);
        }
    }
}

/** A price alone is its value; a surebet is made of the prices of its legs. */
function readingsOf({ outcome, bookmaker }, { id, entries, surebet }, changed) {
    const isMeant = (priced) => !bookmaker || priced.id.startsWith(`${bookmaker}_`);
    if (outcome) {
        const meant = entries.filter(isMeant);
        return meant.map((entry) => ({
            subject: entry.id,
            value: entry.odds[outcome],
            changed: Infinity,
            entry,
        }));
    }
    if (!surebet?.legs.some(isMeant)) return [{ subject: id, value: null, changed: 0 }];
    const times = surebet.legs.map((leg) => changed.get(`${leg.id} ${leg.outcome}`) ?? 0);
    return [{ subject: id, value: surebet.profit, changed: Math.max(...times), legs: surebet.legs }];
}

/** The entries of a fixture, and how surely each is linked: with others a surebet is no new one. */
function basisOf(fixture) {
    return fixture?.entries.map(({ id, link }) => `${id} ${link}`).join();
}
