// The board page: the service and the reader change the state, and the state is drawn.

import { Address } from "./address.js";
import { Beside } from "./beside.js";
import { Board } from "./board.js";
import { choiceOf, EVERYTHING, possible, queryOf, shownBy, toggled } from "./choice.js";
import { Chosen } from "./chosen.js";
import { currentId } from "./details.js";
import { byId, setText } from "./dom.js";
import { Drawing } from "./draw.js";
import { first } from "./first.js";
import { Health } from "./health.js";
import { askList, askMarkets } from "./lists.js";
import { idOf, USUAL_MARKET } from "./markets.js";
import { Movers } from "./movers.js";
import { canMove, WINDOWS } from "./moves.js";
import "./odds-board.js";
import { followOthers, remember, remembered } from "./preferences.js";
import { Store } from "./store.js";
import { Stream } from "./stream.js";
import { NOTHING, viewOf } from "./view.js";

const MINUTE_MS = 60_000;
const ASK_AGAIN_MS = 1000; // after an offer was removed
const MARKETS_MS = 15_000; // between two requests for the service's markets
const TYPING_MS = 120;
const [FIRST_WINDOW_S] = WINDOWS.keys();

const minute = () => Math.floor(Date.now() / MINUTE_MS);
const grid = document.querySelector("odds-board");
const board = new Board();
const store = new Store({
    ...NOTHING,
    board: board.seen,
    choice: choiceOf(location.search),
    preferences: Object.freeze({ ...remembered(), ...shownBy(location.search) }),
    minute: minute(),
});
const address = new Address(step);
const chosen = new Chosen((answer) => store.change({ chosen: answer }));
const movers = new Movers((answer) => store.change({ movers: answer }));
const drawing = new Drawing(grid, {
    onBookmaker: (id) => filter({ bookmakers: toggled(store.state.choice.bookmakers, id) }),
    onDay: (day) => filter({ day }),
    onWindow: (seconds) => filter({ movers: seconds }),
    onChoose: show,
});
const onStream = {
    onList(list) {
        board.replace(list.fixtures);
        store.change({ board: board.seen, isComparing: false });
        follow();
    },
    onChanges({ fixtures, removed }) {
        const isLost = board.change(fixtures, removed);
        const before = store.state.choice.fixture;
        const now = followed(before, removed);
        if (now !== before) choose(now);
        store.change({ board: board.seen });
        if (isLost && performance.now() - askedAt > ASK_AGAIN_MS) {
            askedAt = performance.now();
            health.ask();
        }
    },
    onComparing() {
        board.replace([]);
        store.change({ board: board.seen, isComparing: true });
    },
    onState() {
        health.ask();
        look();
    },
    isNeeded: () => store.state.preferences.notify,
};
const stream = new Stream(onStream, store.state.choice.market);
const hear = (answer) => {
    stream.served(answer);
    store.change({ isChecked: answer !== null, health: answer ?? store.state.health });
};
const health = new Health(hear, () => !stream.isLive);

const on = { onClose: close, onPin: pin, onPrefer: prefer, onMarket: open, onShare: share };
const beside = new Beside({ ...on, onGo: (query) => address.go(query) });

let closed = null; // the choice when details were closed, until the address has gone back
let isAside = false; // whether details show another market than the list did when they were opened
let askedAt = -Infinity;
let learntAt = -Infinity;
let own = remembered(); // the preferences of this device; a copied address may show others
let lent = shownBy(location.search);
let shownMarket = store.state.choice.market;

/** The match that a match was merged into, perhaps in several steps; otherwise itself. */
function followed(key, removed) {
    const next = new Map(removed.map(({ id, into }) => [id, into]));
    for (let into = next.get(key); into; into = next.get(key)) {
        next.delete(key); // so that the loop ends
        key = into;
    }
    return key;
}

/** Request the markets to choose from; the service does not know them before the first links. */
async function learn() {
    if (document.hidden || !stream.isLive || performance.now() - learntAt < MARKETS_MS) return;
    learntAt = performance.now();
    const markets = await askMarkets();
    if (markets !== null && JSON.stringify(markets) !== JSON.stringify(store.state.markets))
        store.change({ markets });
}

/** Show the details of the match in the address, or of the match that it was merged into. */
async function follow() {
    const asked = store.state.choice.fixture;
    if (!asked || board.match(asked)) return;
    const now = await currentId(asked);
    if (now !== asked && store.state.choice.fixture === asked) choose(now);
}

function draw(state) {
    const view = viewOf(state);
    const isChoice = view.shown.length < view.bookmakers.length && view.trust === "live";
    const isAny = isChoice && state.board.matches.some(({ surebet }) => surebet !== null);
    chosen.ask(isChoice ? view.shown.map(({ id }) => id) : [], state.choice.market, isAny);
    movers.ask(state.choice, state.choice.movers && view.trust === "live" && canMove(view.market));
    drawing.show(view, state);
    beside.show(view, state);
}

/** Update everything that depends on the time; called every second. */
function look() {
    const { age, isLive, hasFailed, untilRetry } = stream;
    const connection = { age, isLive, hasFailed, isWaiting: untilRetry !== null };
    if (minute() !== store.state.minute || store.state.choice.surebets) grid.rewrite();
    store.change({ connection, minute: minute() });
    learn();
    store.flush(); // a hidden page gets no frames
}

/** Show the details of the match with this id; none if it is empty. */
function choose(fixture) {
    const before = store.state.choice;
    const wasOpen = before.fixture !== "";
    if (!wasOpen) isAside = false;
    store.change({ choice: { ...store.state.choice, fixture } });
    const query = queryNow();
    if (wasOpen && !fixture) closed = address.close(query) ? before : null;
    else if (fixture && !wasOpen) address.open(query);
    else address.replace(query);
    store.flush();
}

function show(fixture) {
    choose(fixture);
    byId("details").focus();
}

function close() {
    choose("");
    (store.state.choice.movers ? byId("movers") : grid).focus();
}

function queryNow() {
    return queryOf(store.state.choice, store.state.preferences);
}

/**
 * After Back or Forward: open or close the details, or restore the filters of that step. Details get the
 * market of that step. The list gets its own market back if only the details showed another.
 */
function step(query) {
    const before = closed ?? store.state.choice;
    closed = null;
    const then = choiceOf(query);
    const { fixture } = then;
    const market = fixture || isAside ? then.market : before.market;
    isAside = fixture !== "" && market !== before.market;
    const choice = fixture === before.fixture ? then : possible({ ...before, fixture, market });
    store.change({ choice });
    turn(choice.market);
    byId("text").value = choice.text;
    address.replace(queryNow());
    store.flush();
    if (choice.fixture) follow();
    else if (before.fixture) grid.focus();
}

/** Show other matches; this is a step of the history, unless details are open, which Back must close. */
function filter(values, how) {
    if (values.market !== undefined) isAside = false;
    store.change({ choice: possible({ ...store.state.choice, ...values }) });
    turn(store.state.choice.market);
    grid.scrollTop = 0;
    if (store.state.choice.fixture) address.replace(queryNow());
    else address.push(queryNow(), how);
    store.flush();
    setText(byId("announcement"), byId("count").textContent);
}

/** Show the prices of this market; remove those of another at once. */
function turn(market) {
    if (market === shownMarket) return;
    shownMarket = market;
    board.replace([]);
    store.change({ board: board.seen });
    const isThere = stream.show(market);
    look();
    return isThere;
}

/** Show the prices of another market of the match whose details are open. */
async function open(market) {
    const { choice } = store.state;
    isAside = true;
    store.change({ choice: { ...choice, market, fixture: idOf(choice.fixture) } });
    address.replace(queryNow());
    await turn(market);
    store.flush();
    byId("details").focus();
}

/** Set the preferences of this device. */
function prefer(values) {
    own = Object.freeze({ ...own, ...values });
    lent = Object.fromEntries(Object.entries(lent).filter(([name]) => !(name in values)));
    remember(own);
    store.change({ preferences: Object.freeze({ ...own, ...lent }) });
    address.replace(queryNow());
    store.flush();
}

/** Put the reader's bookmakers into the address, so that it shows others the same columns. */
function share() {
    const { chips } = viewOf(store.state);
    filter({ bookmakers: chips.map(({ id }) => id) });
}

function pin({ match, league }) {
    const { matches, leagues } = store.state.preferences;
    if (match !== undefined) prefer({ matches: toggled(matches, match) });
    else prefer({ leagues: toggled(leagues, league) });
}

function listen() {
    const text = byId("text");
    text.value = store.state.choice.text;
    let typing = 0;
    text.addEventListener("input", () => {
        clearTimeout(typing);
        typing = setTimeout(() => filter({ text: text.value }, { isTyped: true }), TYPING_MS);
    });
    byId("league").addEventListener("change", ({ target }) => filter({ league: target.value }));
    for (const id of ["market", "line"]) {
        byId(id).addEventListener("change", ({ target }) => filter({ market: target.value }));
    }
    byId("by").addEventListener("change", ({ target }) => prefer({ by: target.value }));
    byId("least").value = String(store.state.preferences.least);
    byId("least").addEventListener("input", ({ target }) => prefer({ least: target.valueAsNumber || 0 }));
    byId("for-total").addEventListener("input", ({ target }) =>
        prefer({ total: Math.max(target.valueAsNumber || 0, 0) }),
    );
    byId("surebets").addEventListener("click", () => {
        filter({ surebets: !store.state.choice.surebets, movers: 0 });
    });
    byId("movers-chip").addEventListener("click", () => {
        filter({ movers: store.state.choice.movers ? 0 : FIRST_WINDOW_S });
    });
    grid.addEventListener("choose", ({ detail }) => show(detail));
    grid.addEventListener("pin", ({ detail }) => pin(detail));
    grid.addEventListener("unfold", ({ detail }) => {
        store.change({ opened: toggled(store.state.opened, detail) });
        store.flush();
    });
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("clear").addEventListener("click", () => {
        text.value = "";
        filter(EVERYTHING);
    });
    byId("open-legend").addEventListener("click", () => byId("legend").showModal());
    byId("retry").addEventListener("click", () => stream.reconnect());
    addEventListener("keydown", (event) => {
        if (event.key !== "/" || event.target.matches("input, select")) return;
        event.preventDefault();
        text.focus();
    });
    followOthers((preferences) => {
        own = preferences;
        store.change({ preferences: Object.freeze({ ...own, ...lent }) });
    });
}

store.draw = draw;
listen();
store.flush();
address.replace(queryNow());
setInterval(look, 1000);
document.addEventListener("visibilitychange", look);
await health.start(first.health); // before the list, so that simulated prices always have their notice
const isMeant = (first.market ?? USUAL_MARKET) === store.state.choice.market;
stream.start(await (isMeant ? first.list : askList(store.state.choice.market)), first.at);
