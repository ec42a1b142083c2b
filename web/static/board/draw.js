// Shows a view (view.js) in the document. Decides nothing.

import { Bookmakers } from "./bookmakers.js";
import { byId, setText } from "./dom.js";

const SAID = {
    live: "Live again.",
    doubtful: "The connection is lost. Prices are not live.",
    gone: "Prices are hidden until the connection is back.",
};

/** Draws views on the page, but for what is beside the list (beside.js); `grid` is its <odds-board>. */
export class Drawing {
    #grid;
    #buttons;
    #shown = {}; // what the grid last got: it is filled again only when this changes
    #trust = null;

    constructor(grid, onToggle) {
        this.#grid = grid;
        this.#buttons = new Bookmakers(byId("bookmakers"), onToggle);
    }

    show(view, state) {
        this.#showGrid(view, state);
        const checks = state.isChecked ? state.health.checks : {};
        this.#buttons.show(view.chips, checks, state.choice.bookmakers, view.clock);
        showChoice(view, state);
        showEmpty(view);
        showNotices(view.notices);
        showConnection(view, state.connection);
        if (view.trust !== this.#trust) this.#announce(view.trust);
    }

    #showGrid(view, { preferences, opened, choice }) {
        const { rows, columns, trust, clock, price, by, empty, surebetOf } = view;
        const [pinned, { odds }] = [preferences.matches, preferences];
        const key = JSON.stringify([trust, by, odds, preferences.zone, pinned, opened]);
        const shown = JSON.stringify([columns, key]);
        if (this.#shown.rows !== rows || this.#shown.key !== shown || this.#shown.surebetOf !== surebetOf) {
            const how = { trust, clock, odds, price, by, surebetOf, opened, pinned, key };
            this.#grid.show(rows, columns, how);
            this.#shown = { rows, key: shown, surebetOf };
        }
        this.#grid.hidden = empty !== null;
        this.#grid.refresh();
        this.#grid.chosen = choice.fixture;
    }

    #announce(trust) {
        const isFirst = trust === "live" && this.#trust === "none";
        setText(byId("announcement"), isFirst ? "" : (SAID[trust] ?? ""));
        this.#trust = trust;
    }
}

function showChoice({ count, surebets, leagues, days, clock }, { choice, preferences }) {
    setText(byId("count"), count);
    setText(byId("zone"), `Times in ${clock.zone}`);
    setText(byId("surebet-count"), String(surebets));
    byId("surebets").ariaPressed = String(choice.surebets);
    byId("least-gain").hidden = !choice.surebets;
    const all = { value: "", title: "All leagues" };
    showOptions(
        byId("league"),
        [all, ...leagues.map(({ id, title }) => ({ value: id, title }))],
        choice.league,
    );
    showOptions(byId("day"), [{ value: "", title: "All days" }, ...days], choice.day);
    byId("by").value = preferences.by;
    byId("by").disabled = choice.surebets; // they stand by profit
}

function showOptions(select, options, chosen) {
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
