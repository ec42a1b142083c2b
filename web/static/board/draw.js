// Shows a view (view.js) in the document, without decisions of its own.

import { Ages } from "./ages.js";
import { Bookmakers } from "./bookmakers.js";
import { byId, element, setText } from "./dom.js";
import { kindValue } from "./markets.js";
import { MoversTable } from "./movers-table.js";

const MOST_AGES = 10; // surebets whose ages are requested
const SAID = {
    live: "Live again.",
    doubtful: "The connection is lost. Prices are not live.",
    gone: "Prices are hidden until the connection is back.",
};

/** Draws views on the page, except the parts beside the list (beside.js); `grid` is the <odds-board>. */
export class Drawing {
    #grid;
    #buttons;
    #faults;
    #ages = new Map(); // ages of the shown surebets, by match
    #shown = {}; // the grid's last content: it is filled again only after a change
    #days;
    #movers;
    #trust = null;

    constructor(grid, { onBookmaker, onDay, onWindow, onChoose }) {
        this.#grid = grid;
        this.#buttons = new Bookmakers(byId("bookmakers"), onBookmaker);
        this.#faults = new Bookmakers(byId("faults"), () => byId("bookmakers").showPopover());
        this.#days = new Days(byId("days"), onDay);
        this.#movers = new MoversTable({ onWindow, onChoose });
        addEventListener("beforeprint", () => setText(byId("printed"), `As of ${new Date()}`));
    }

    show(view, state) {
        this.#showGrid(view, state);
        const checks = state.isChecked ? state.health.checks : {};
        this.#buttons.show(view.chips, checks, state.choice.bookmakers, view.clock);
        const faults = view.chips.filter(({ id }) => isFault(checks[id]));
        this.#faults.show(faults, checks, null, view.clock);
        byId("faults").hidden = faults.length === 0;
        this.#days.show(view.days, state.choice.day);
        this.#movers.show(view.moves, state.choice);
        showChoice(view, state);
        showMarkets(view);
        showEmpty(view);
        showNotices(view.notices);
        showConnection(view, state.connection);
        if (view.trust !== this.#trust) this.#announce(view.trust);
    }

    #showGrid(view, { preferences, opened, choice }) {
        const { rows, columns, market, trust, clock, price, by, empty, moves, surebetOf } = view;
        const [pinned, { odds, total, step }] = [preferences.matches, preferences];
        const agesOf = (match) => this.#agesOf(match);
        if (by === "profit" && trust === "live") this.#ask(rows);
        const of = [market.key, trust, by, odds, preferences.zone];
        const key = JSON.stringify([...of, pinned, opened, total, step]);
        const shown = JSON.stringify([columns, key]);
        if (this.#shown.rows !== rows || this.#shown.key !== shown || this.#shown.surebetOf !== surebetOf) {
            const own = { preferences, opened, pinned };
            const how = { market, trust, clock, odds, price, by, surebetOf, agesOf, ...own, key };
            this.#grid.show(rows, columns, how);
            this.#shown = { rows, key: shown, surebetOf };
        }
        this.#grid.hidden = empty !== null || moves !== null;
        this.#grid.refresh();
        this.#grid.chosen = choice.fixture;
    }

    /** Request the ages of the first surebets' prices. */
    #ask(rows) {
        const matches = rows.flatMap(({ match }) => match ?? []).slice(0, MOST_AGES);
        const keys = new Set(matches.map(({ key }) => key));
        for (const key of this.#ages.keys()) if (!keys.has(key)) this.#ages.delete(key);
        for (const match of matches) {
            if (!this.#ages.has(match.key)) this.#ages.set(match.key, new Ages(() => this.#grid.rewrite()));
            this.#ages.get(match.key).ask(match);
        }
    }

    #agesOf({ key }) {
        return this.#ages.get(key)?.isKnown ? this.#ages.get(key) : null;
    }

    #announce(trust) {
        const isFirst = trust === "live" && this.#trust === "none";
        setText(byId("announcement"), isFirst ? "" : (SAID[trust] ?? ""));
        this.#trust = trust;
    }
}

/** Whether a bookmaker is down or in doubt; a bookmaker that has just started is neither. */
function isFault(check) {
    if (check === undefined || check.status === "pass") return false;
    return check.state !== "starting" || check.last_error !== null;
}

/** A tab for each day. */
class Days {
    #group;
    #onDay;

    constructor(group, onDay) {
        this.#group = group;
        this.#onDay = onDay;
    }

    show(days, chosen) {
        const isThere = days.some(({ value }) => value === chosen);
        const every = isThere ? days : [...days, { value: chosen, title: chosen }];
        while (this.#group.children.length > every.length) this.#group.lastChild.remove();
        while (this.#group.children.length < every.length) this.#group.append(this.#made());
        every.forEach(({ value, title }, at) => {
            const tab = this.#group.children[at];
            tab.value = value;
            tab.ariaPressed = String(value === chosen);
            setText(tab, title);
        });
    }

    #made() {
        const tab = element("button", "tab", { type: "button" });
        tab.addEventListener("click", () => this.#onDay(tab.value));
        return tab;
    }
}

function showChoice({ count, surebets, leagues, clock, which }, { choice, preferences }) {
    which.forEach((text, at) => setText(byId("which").children[at], text));
    setText(byId("count"), count);
    setText(byId("zone"), `Times in ${clock.zone}`);
    setText(byId("surebet-count"), String(surebets));
    byId("surebets").ariaPressed = String(choice.surebets);
    for (const label of document.querySelectorAll(".wanted")) label.hidden = !choice.surebets;
    const total = byId("for-total");
    if (document.activeElement !== total) total.value = String(preferences.total);
    const all = { value: "", title: "All leagues" };
    showOptions(
        byId("league"),
        [all, ...leagues.map(({ id, title }) => ({ value: id, title }))],
        choice.league,
    );
    byId("by").value = preferences.by;
    byId("by").disabled = choice.surebets || choice.movers > 0; // sorted by profit, by the size of the move
}

/** A board with one market shows no chooser of markets. */
function showMarkets({ market, markets: { kinds, lines } }) {
    byId("market-choice").hidden = kinds.length === 0;
    byId("line-choice").hidden = lines.length === 0;
    byId("market-legend").hidden = kinds.length === 0;
    if (kinds.length > 0) showOptions(byId("market"), kinds, kindValue(market));
    if (lines.length > 0) showOptions(byId("line"), lines, market.key);
}

/** Show these options, `{ value, title }`, and the chosen value, which is added if it is none of them. */
export function showOptions(select, options, chosen) {
    const isThere = options.some(({ value }) => value === chosen);
    const every = isThere ? options : [...options, { value: chosen, title: chosen }];
    const isSame = ({ value, title }, at) =>
        select.options[at]?.value === value && select.options[at].text === title;
    if (select.options.length !== every.length || !every.every(isSame)) {
        select.replaceChildren(...every.map(({ value, title }) => new Option(title, value)));
    }
    select.disabled = every.length < 2;
    select.value = chosen;
}

function showEmpty({ empty, canClear }) {
    byId("empty").hidden = empty === null;
    byId("clear").hidden = !canClear;
    if (empty === null) return;
    const [title, text] = byId("empty").children;
    setText(title, empty[0]);
    setText(text, empty[1]);
}

function showNotices(notices) {
    for (const [id, text] of Object.entries(notices)) {
        byId(id).hidden = text === "";
        setText(byId(id), text);
    }
}

function showConnection({ trust, label, warning, overall }, { isWaiting }) {
    setText(byId("connection"), label);
    byId("connection").dataset.trust = ["fail", "starting"].includes(overall?.level) ? "none" : trust;
    byId("retry").hidden = !isWaiting;
    byId("warning").hidden = warning === "";
    setText(byId("warning"), warning);
    byId("overall").hidden = overall === null;
    byId("overall").dataset.level = overall?.level ?? "";
    setText(byId("overall"), overall?.text ?? "");
}
