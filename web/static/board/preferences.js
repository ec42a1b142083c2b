// The reader's preferences on this device. They are stored here, and never sent or put into the address.

const KEY = "oddsboard.preferences";

/**
 * Bookmakers in the reader's `order`, and `hidden` bookmakers; pinned `leagues` and `matches`; the order
 * of matches (`by`); the form of `odds`; the time `zone`, the system's if empty; and for surebets
 * the `total`, the `step` of stakes, the `least` profit in per cent, and whether to `notify`. `rules` are
 * texts of rules (alert-rule.js), `seen` is the cursor of the last alert that the reader has seen.
 */
export const USUAL = Object.freeze({
    order: [],
    hidden: [],
    leagues: [],
    matches: [],
    by: "league",
    odds: "decimal",
    zone: "",
    total: 100,
    step: 0.01,
    least: 0,
    notify: false,
    rules: [],
    seen: "",
});

/** The stored preferences; storage may be blocked, or written by another release. */
export function remembered() {
    try {
        return valid(JSON.parse(localStorage.getItem(KEY)));
    } catch {
        return USUAL;
    }
}

export function remember(preferences) {
    try {
        localStorage.setItem(KEY, JSON.stringify(preferences));
    } catch {
        // they then last as long as the page
    }
}

/** Call `onChange` with the preferences when another page of this site has changed them. */
export function followOthers(onChange) {
    addEventListener("storage", ({ key }) => key === KEY && onChange(remembered()));
}

function valid(given) {
    const isSame = (name) =>
        Array.isArray(USUAL[name])
            ? Array.isArray(given?.[name]) && given[name].every((id) => typeof id === "string")
            : typeof given?.[name] === typeof USUAL[name];
    const read = Object.fromEntries(
        Object.keys(USUAL).map((name) => [name, isSame(name) ? given[name] : USUAL[name]]),
    );
    return Object.freeze({ ...read, zone: isZone(read.zone) ? read.zone : "" });
}

function isZone(timeZone) {
    try {
        return timeZone === "" || Boolean(new Intl.DateTimeFormat("en", { timeZone }));
    } catch {
        return false;
    }
}
