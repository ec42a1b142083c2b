// The lines of a match in its details: a chart of how each bookmaker's price of an outcome moved, with the
// fair price, and the same as a table, which screen readers read.

import { coursesOf, FAIR, reasonOf } from "./courses.js";
import { byId, element, setText } from "./dom.js";
import { idOf, marketQuery } from "./markets.js";
import { Table } from "./table.js";

const POINTS = 400; // of each bookmaker
const PATIENCE_MS = 6000;
const EVERY_MS = 30_000; // between two questions for the lines of one match
const COLOURS = 8; // of lines.css; more bookmakers share the last
const HEIGHT = 190;
const [MINUTE_S, HOUR_S, DAY_S] = [60, 3600, 86_400];
const STEPS_S = [
    ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_S),
    ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_S),
    ...[1, 2, 7].map((days) => days * DAY_S),
]; // between two times below the chart
const NONE = "–";
const IN_MEMORY = " This service keeps no archive: only the last change of each price is known.";

export class PriceLines {
    #section = byId("details-lines");
    #chart = byId("lines-chart");
    #outcomes = byId("lines-outcomes");
    #table = null;
    #asked = { key: "", at: -Infinity };
    #answer = null;
    #match = null;
    #view = null;
    #names = new Map();
    #at = 0; // which outcome
    #plot = null;
    #drawn = []; // what the chart was made of

    constructor() {
        new ResizeObserver(() => this.#plot?.setSize(this.#size)).observe(this.#chart);
    }

    /** Show the lines of a match as they are known, and ask for them when that is due. */
    show(match, names, view) {
        const isOther = match.key !== this.#match?.key || match.market !== this.#match?.market;
        if (isOther) [this.#answer, this.#at, this.#asked] = [null, 0, { key: "", at: -Infinity }];
        [this.#match, this.#names, this.#view] = [match, names, view];
        this.#fill();
        if (view.trust === "live") this.#ask();
    }

    async #ask() {
        const key = `${idOf(this.#match.key)} ${this.#match.market.key}`;
        if (key === this.#asked.key && performance.now() - this.#asked.at < EVERY_MS) return;
        const asked = { key, at: performance.now() };
        this.#asked = asked;
        const answer = await linesOf(this.#match);
        if (asked !== this.#asked || this.#match === null) return; // another match is shown by now
        this.#answer = answer;
        this.#fill();
    }

    #fill() {
        const { trust, clock } = this.#view;
        const isShown = trust === "live" && this.#answer !== null && this.#answer.lines.length > 0;
        this.#section.hidden = !isShown;
        if (!isShown) return;
        const { outcomes } = this.#match.market;
        this.#choose(outcomes);
        const { times, courses } = coursesOf(this.#answer, outcomes[this.#at].key);
        const { from_time: from, kept } = this.#answer;
        const since = Math.max(from, times[0]);
        setText(byId("lines-since"), `Since ${clock.moment(since)}.${kept === "memory" ? IN_MEMORY : ""}`);
        this.#table ??= this.#tableOf();
        this.#table.show(courses.map((course, at) => ({ ...course, colour: colourOf(course.key, at) })));
        this.#draw(times, courses);
    }

    /** Have a button for each outcome. */
    #choose(outcomes) {
        const titles = outcomes.map(({ spoken }) => spoken);
        if ([...this.#outcomes.children].map(({ textContent }) => textContent).join() !== titles.join()) {
            this.#outcomes.replaceChildren(...titles.map((title, at) => this.#button(title, at)));
        }
        [...this.#outcomes.children].forEach((button, at) => {
            button.ariaPressed = String(at === this.#at);
        });
    }

    #button(title, at) {
        const button = element("button", "chip", { type: "button" }, title);
        button.addEventListener("click", () => {
            this.#at = at;
            this.#fill();
        });
        return button;
    }

    #tableOf() {
        const price = (value, { key }) => {
            return value === null ? NONE : this.#view.price(Number(value.toFixed(key === FAIR ? 2 : 3)));
        };
        const figure = (title, from) => ({ title, className: "figure", text: from });
        return new Table(
            byId("lines-table"),
            [
                { title: "Bookmaker", fill: (cell, course) => this.#fillName(cell, course) },
                figure("First", (course) => price(course.first, course)),
                figure("Now", (course) => price(this.#now(course), course)),
                figure("Highest", (course) => price(this.#extreme(course, "highest", Math.max), course)),
                figure("Lowest", (course) => price(this.#extreme(course, "lowest", Math.min), course)),
                figure("Since first", (course) => changeOf(course.first, this.#now(course))),
            ],
            (course) => this.#noteOf(course),
        );
    }

    #fillName(cell, { key, bookmaker, colour }) {
        if (cell.childElementCount === 0) cell.append(element("i"), element("span"));
        cell.firstElementChild.className = `swatch ${colour}`;
        setText(cell.lastElementChild, this.#nameOf(key, bookmaker));
    }

    #nameOf(key, bookmaker) {
        return key === FAIR ? "Fair price" : (this.#names.get(bookmaker) ?? bookmaker);
    }

    /** The present price, which the board has sooner than the lines. */
    #now({ key, bookmaker, newest }) {
        if (key === FAIR) return newest;
        const offer = this.#match.offers.get(bookmaker);
        return offer?.id.split(" ")[0] === key ? offer.prices[this.#at] : null;
    }

    /** The highest or lowest price, the present one included. */
    #extreme(course, which, best) {
        const [known, now] = [course[which], this.#now(course)];
        return known === null || now === null ? (known ?? now) : best(known, now);
    }

    #noteOf(course) {
        if (course.left === null || this.#now(course) !== null) return "";
        return `Since ${this.#view.clock.moment(course.left.time)}: ${reasonOf(course.left)}.`;
    }

    get #size() {
        return { width: Math.max(this.#chart.clientWidth, 1), height: HEIGHT };
    }

    async #draw(times, courses) {
        const { theme } = document.documentElement.dataset;
        const drawn = [this.#answer, this.#at, theme, this.#view.price, this.#view.clock];
        if (drawn.every((part, at) => part === this.#drawn[at])) return;
        this.#drawn = drawn;
        const { default: Plot = null } = await import("./uplot.js").catch(() => ({}));
        if (drawn !== this.#drawn) return; // something else is to be drawn by now
        if (Plot === null) {
            this.#drawn = []; // the table is there; the chart is tried again with it
            return;
        }
        this.#plot?.destroy();
        this.#plot = new Plot(
            this.#optionsFor(Plot, courses),
            [times, ...courses.map(({ values }) => values)],
            this.#chart,
        );
    }

    #optionsFor(Plot, courses) {
        const { clock, price } = this.#view;
        const style = getComputedStyle(this.#chart);
        const [stroke, line] = [style.color, style.getPropertyValue("--line")];
        const axis = { stroke, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
        const colours = [...document.querySelectorAll("#lines-table .swatch")];
        const series = courses.map(({ key, bookmaker }, at) => ({
            label: this.#nameOf(key, bookmaker),
            stroke: getComputedStyle(colours[at]).color,
            width: key === FAIR ? 2.5 : 1.5,
            ...(key === FAIR ? { dash: [6, 4] } : {}),
            paths: Plot.paths.stepped({ align: 1 }),
            gaps: (plot, at, from, to, gaps) => gaps.map(([begin, end]) => [begin, end + 1]), // no rim
            points: { show: false },
        }));
        const prices = (_, values) => values.map((value) => price(Number(value.toFixed(3))));
        return {
            ...this.#size,
            legend: { show: false },
            cursor: { drag: { x: false, y: false } },
            series: [{}, ...series],
            axes: [
                { ...axis, values: (_, values) => timesOf(values, clock), space: 70, incrs: STEPS_S },
                { ...axis, values: prices, size: 48 },
            ],
        };
    }
}

const colourOf = (key, at) => (key === FAIR ? "line-fair" : `line-${Math.min(at, COLOURS - 1)}`);

/** The time of each, and its day where that is another than before. */
function timesOf(values, clock) {
    let before = null;
    return values.map((at) => {
        const isSame = clock.date(at) === before;
        before = clock.date(at);
        return isSame || clock.day(at) === "" ? clock.time(at) : `${clock.time(at)}\n${clock.day(at)}`;
    });
}

function changeOf(first, now) {
    if (first === null || now === null) return NONE;
    const change = (now / first - 1) * 100;
    const shown = Math.abs(change).toFixed(1);
    const sign = change > 0 ? "+" : "−";
    return `${Number(shown) === 0 ? "" : sign}${shown} %`;
}

/** Null if they are not known, as where the service is older. */
async function linesOf({ key, market }) {
    try {
        const query = new URLSearchParams({ id: idOf(key), ...marketQuery(market.key), points: POINTS });
        const response = await fetch(`api/v2/lines?${query}`, { signal: AbortSignal.timeout(PATIENCE_MS) });
        return response.ok ? await response.json() : null;
    } catch {
        return null;
    }
}
