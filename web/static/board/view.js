// Makes the page's view of a state: columns, rows, counts, sentences. Pure, without the document.

import { arranged } from "./arrange.js";
import { isEverything } from "./choice.js";
import { surebetsOf } from "./chosen.js";
import { bookmakersOf, chipsOf, columnsOf, shownOf } from "./columns.js";
import { daysOf } from "./days.js";
import { filtered, isCertain } from "./filters.js";
import { clockIn, count } from "./format.js";
import { byLeague, leaguesOf } from "./leagues.js";
import { ANY_MARKET, choicesOf, marketOf } from "./markets.js";
import { NO_MOVES } from "./movers.js";
import { movesOf } from "./moves.js";
import { priceIn } from "./odds.js";
import { USUAL } from "./preferences.js";
import { emptinessOf, labelOf, noticesOf, overallOf, warningOf } from "./notices.js";
import { kept } from "./store.js";

const GONE_MS = 30_000; // prices are hidden after this time without an event

/**
 * The first state. `board` is the content of the model (board.js), `health` the last answer of /health,
 * `isChecked` whether the last request of it was answered, `connection` the stream's connection, `chosen`
 * the surebets among some bookmakers (chosen.js), `movers` what moved most (movers.js), `opened` the keys
 * of matches with unfolded prices, `markets` the service's markets, `minute` the time in Unix minutes.
 * While `isComparing` the service makes its first links, and shows no fixtures.
 */
export const NOTHING = {
    board: { matches: [], names: new Map(), stamp: 0 },
    health: { checks: {}, links: { status: "pass" } },
    isChecked: false,
    connection: { age: null, isLive: false, hasFailed: false, isWaiting: false },
    chosen: { ids: [], found: new Map() },
    movers: NO_MOVES,
    preferences: USUAL,
    opened: [],
    markets: [],
    isComparing: false,
    minute: 0,
};

/** The view of a state. */
export function viewOf(state) {
    const { board, choice, health, connection, chosen, preferences, markets, minute } = state;
    const market = marketOf(choice.market);
    const trust = trustOf(connection);
    const bookmakers = bookmakersOf(health.checks, board.names);
    const shown = shownOf(bookmakers, choice.bookmakers, preferences);
    const surebetOf = surebetsAmong(shown.length < bookmakers.length ? idsOf(shown) : "", chosen);
    const clock = clockOf(preferences.zone);
    const leagues = leaguesAt(board.matches, minute);
    const changes = choice.surebets ? board.stamp : 0; // profits, which decide the order
    const isSure = isCertain(surebetOf, preferences);
    const isHidden = trust !== "live" && (choice.surebets || choice.movers); // they count only while live
    const by = choice.surebets ? "profit" : preferences.by;
    const how = { by, choice, preferences, clock, minute, surebetOf, leagues };
    const overall = overallOf(state, trust, shown, clock);
    const matches = isHidden ? [] : matchesOf(board.matches, idsOf(shown), ...Object.values(how), changes);
    const moves = choice.movers
        ? movesAmong(state.movers, choice, matches, market, clock, preferences.odds, minute)
        : null;
    return {
        trust,
        market,
        markets: choicesAmong(markets, market, choice.surebets),
        bookmakers,
        shown,
        which: whichOf(shown, bookmakers),
        columns: columnsOf(shown),
        chips: chipsOf(bookmakers, choice.bookmakers, preferences),
        by,
        surebetOf,
        clock,
        price: priceIn(preferences.odds),
        moves,
        matches,
        rows: rowsOf(matches, ...Object.values(how), changes),
        leagues: sortedLeagues(leagues, preferences),
        days: daysAt(board.matches, clock, minute),
        count: countOf((moves?.rows ?? matches).length, board.matches.length, market),
        surebets: trust === "live" ? board.matches.filter((match) => isSure(match)).length : 0,
        canClear: !isEverything(choice) && board.matches.length > 0,
        empty: emptinessOf(state, trust, matches) ?? moves?.empty ?? null,
        notices: noticesOf(state, shown),
        overall,
        label: labelOf(state, trust, overall),
        warning: warningOf(trust),
    };
}

const idsOf = (bookmakers) => bookmakers.map(({ id }) => id).join();
const surebetsAmong = kept((ids, chosen) => surebetsOf(ids ? ids.split(",") : [], chosen));
const choicesAmong = kept((...given) => choicesOf(...given));
const movesAmong = kept((movers, choice, matches, market, clock, odds, minute) =>
    movesOf(movers, choice, matches, { market, clock, price: priceIn(odds), minute }),
);
const clockOf = kept((zone) => clockIn(zone));
const leaguesAt = kept((matches, minute) => leaguesOf(matches, minute * 60));
const daysAt = kept((matches, clock, minute) => daysOf(matches, clock, minute * 60));
const sortedLeagues = kept((leagues, { leagues: pinned }) => [...leagues.values()].sort(byLeague(pinned)));

const matchesOf = kept((matches, shown, by, choice, preferences, clock, minute, surebetOf) =>
    filtered(
        matches,
        { ...choice, bookmakers: shown.split(",") },
        { preferences, clock, minute, surebetOf },
    ),
);

const rowsOf = kept((matches, by, choice, preferences, clock, minute, surebetOf, leagues) =>
    arranged(matches, { by, leagues, preferences, clock, minute, surebetOf }),
);

/** Whether the prices are live: "none" before the first. */
function trustOf({ age, isLive }) {
    if (age === null) return "none";
    if (isLive) return "live";
    return age < GONE_MS ? "doubtful" : "gone";
}

function whichOf({ length: some }, { length: all }) {
    return [some === all ? `All ${all}` : `${some} of ${all}`, all === 1 ? "bookmaker" : "bookmakers"];
}

function countOf(some, all, { key }) {
    const every = count(all, key === ANY_MARKET ? "surebet" : "match");
    return some === all ? every : `${count(some)} of ${every}`;
}
