// The columns of the board: bookmakers in the reader's order, without those that are hidden. Pure.

/**
 * All bookmakers, `{ id, name, short, company, isGross }`: those of /health in its order, then any in the
 * stream only. `isGross`: what it takes of a bet or a win is not taken from its prices.
 */
export function bookmakersOf(checks, names) {
    const ids = new Set([...Object.keys(checks), ...names.keys()]);
    return [...ids].map((id) => {
        const { name, short, company, fees } = checks[id] ?? { name: id, company: id };
        const shown = names.get(id) ?? name;
        return { id, name: shown, short: short ?? shown, company, isGross: fees === "not included" };
    });
}

/** Bookmakers in the order of these ids; those that it lacks come after them. */
export function ordered(bookmakers, order) {
    const place = ({ id }) => (order.includes(id) ? order.indexOf(id) : order.length);
    return [...bookmakers].sort((a, b) => place(a) - place(b));
}

/**
 * Those that are shown: the chosen, also if they are hidden; or with none chosen all that are not hidden.
 */
export function shownOf(bookmakers, chosen, { order, hidden }) {
    const isShown = ({ id }) => (chosen.length > 0 ? chosen.includes(id) : !hidden.includes(id));
    return ordered(bookmakers, order).filter(isShown);
}

/** Those to choose from: what is not hidden, and what is chosen. */
export function chipsOf(bookmakers, chosen, { order, hidden }) {
    return ordered(bookmakers, order).filter(({ id }) => chosen.includes(id) || !hidden.includes(id));
}

/**
 * A column `{ id, name, short, title, of, isGross }` for each company, where its first bookmaker stands.
 * `of` are its bookmakers: two sources may list one, and the price that was confirmed last is shown
 * (best.js:offerOf). `short` is for narrow places; `title` says also that prices are gross.
 */
export function columnsOf(bookmakers) {
    const columns = new Map();
    for (const { id, name, short, company, isGross } of bookmakers) {
        if (!columns.has(company)) columns.set(company, { id, name, short, of: [], isGross: false });
        const column = columns.get(company);
        column.isGross ||= isGross;
        column.of.push({ id, name });
        if (column.of.length > 1 && !column.of.some((bookmaker) => bookmaker.id === company))
            column.name = company;
    }
    return [...columns.values()].map((column) => ({
        ...column,
        title: column.name + (column.isGross ? ", before fees" : ""),
    }));
}
