// The columns of the board: bookmakers in the reader's order, without those that are hidden. Pure.

/**
 * All bookmakers, `{ id, name, short, company, isGross }`: first the bookmakers of /health in its order,
 * then others in the stream. `isGross`: its prices are before its fee or commission.
 */
export function bookmakersOf(checks, names) {
    const ids = new Set([...Object.keys(checks), ...names.keys()]);
    return [...ids].map((id) => {
        const { name, short, company, fees } = checks[id] ?? { name: id, company: id };
        const shown = names.get(id) ?? name;
        return { id, name: shown, short: short ?? shown, company, isGross: fees === "not included" };
    });
}

/** Bookmakers in the order of these ids; bookmakers without one come last. */
export function ordered(bookmakers, order) {
    const place = ({ id }) => (order.includes(id) ? order.indexOf(id) : order.length);
    return [...bookmakers].sort((a, b) => place(a) - place(b));
}

/**
 * The shown bookmakers: the chosen ones, even if hidden; if none is chosen, all that are not hidden.
 */
export function shownOf(bookmakers, chosen, { order, hidden }) {
    const isShown = ({ id }) => (chosen.length > 0 ? chosen.includes(id) : !hidden.includes(id));
    return ordered(bookmakers, order).filter(isShown);
}

/** The bookmakers to choose from: all that are not hidden, and the chosen ones. */
export function chipsOf(bookmakers, chosen, { order, hidden }) {
    return ordered(bookmakers, order).filter(({ id }) => chosen.includes(id) || !hidden.includes(id));
}

/**
 * A column `{ id, name, short, title, of, isGross }` for each company, at the place of its first bookmaker.
 * `of` are the company's bookmakers: two sources may have it, and the price confirmed last is shown
 * (best.js:offerOf). `short` is for narrow places; `title` also says if prices are gross.
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
