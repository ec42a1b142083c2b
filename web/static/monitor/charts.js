// Small charts of recent rates and durations. Missing values are not drawn.

import { element, setText, svg } from "./dom.js";

const POINTS = 60;
const LINE = { width: 72, height: 22 };
const QUANTILES = ["p50", "p95", "p99"];

/** The course of a value since the page was opened, and its current value. */
export class Trend {
    #values = [];
    #line = svg("path");
    #now = element("span", "value");
    #unit;

    constructor(unit) {
        this.#unit = unit;
        const size = { viewBox: `0 -1 ${LINE.width} ${LINE.height + 2}`, "aria-hidden": "true" };
        this.element = element("span", "trend", {}, svg("svg", size, this.#line), this.#now);
    }

    add(value) {
        this.#values = [...this.#values, value].slice(-POINTS);
        this.#line.setAttribute("d", pathOf(this.#values));
        setText(this.#now, value === null ? "not measured" : `${shortest(value)} ${this.#unit}`);
    }
}

/** Three bars for the quantiles of a duration, on a logarithmic scale from 0.01 ms to 100 s. */
export class Quantiles {
    #bars = QUANTILES.map(() => element("span", "bar-fill"));
    #texts = QUANTILES.map(() => element("span", "value"));

    constructor() {
        this.element = element("span", "quantiles");
        QUANTILES.forEach((name, index) => {
            const track = element("span", "track", { "aria-hidden": "true" }, this.#bars[index]);
            this.element.append(element("span", "label", {}, name), track, this.#texts[index]);
        });
    }

    show(latency) {
        QUANTILES.forEach((name, index) => {
            const value = latency[name];
            this.#bars[index].style.width = value === null ? "0" : `${share(value)}%`;
            setText(this.#texts[index], value === null ? "not measured" : `${shortest(value)} ms`);
        });
    }
}

/** A line with gaps where nothing was measured, on a scale from zero. */
function pathOf(values) {
    const top = Math.max(...values, 0) || 1;
    const step = LINE.width / (POINTS - 1);
    let isDown = false;
    return values
        .map((value, index) => {
            if (value === null) {
                isDown = false;
                return "";
            }
            const x = LINE.width - (values.length - 1 - index) * step;
            const y = LINE.height * (1 - value / top);
            const move = isDown ? "L" : "M";
            isDown = true;
            return `${move}${x.toFixed(1)} ${y.toFixed(1)}`;
        })
        .join("");
}

function share(milliseconds) {
    const decades = Math.log10(Math.max(milliseconds, 0.01)) + 2;
    return Math.min(Math.max((decades / 7) * 100, 2), 100).toFixed(1);
}

/** The value with three significant digits. */
function shortest(value) {
    return value >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
