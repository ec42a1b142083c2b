// The cell of one price: the price, its last moves, and whether it is the best.

import { element, part, setText, svg } from "./dom.js";

export const DOUBTED = "in doubt, as a price is far above those of the other bookmakers";

const MOVED_MS = 1600;
const SPARK = { width: 44, height: 9 };

/** One price with its moves; screen readers get its column (`label`) and its outcome. */
export class PriceCell {
    #label;
    #number = element("span", "number");
    #spark = null; // made at the first move: an empty drawing takes as much layout time as a full one
    #drawn = null;
    #timer = 0;

    constructor(label) {
        this.#label = label;
        this.element = part("gridcell", "price", this.#number);
    }

    clear() {
        this.#show("", "", false);
        delete this.element.dataset.outcome;
        this.#draw(null);
        this.#settle();
    }

    /** `trust` is "live", "doubtful" or "gone"; "gone" shows no price. `price` writes a price. */
    fill(offer, index, isBest, { trust, price }) {
        const isLive = trust === "live";
        const text = trust === "gone" ? "–" : price(offer.prices[index]);
        const { mark, spoken } = offer.match.market.outcomes[index];
        this.element.dataset.outcome = mark;
        const remark = { true: isBest ? ", best price" : "", false: ", not live" }[isLive];
        const collected = offer.isCollected ? ", collected" : "";
        const doubted = offer.isDoubted ? `, ${DOUBTED}` : "";
        this.#show(
            text,
            `${this.#label}, ${spoken}: ${text}${remark}${collected}${doubted}`,
            isLive && isBest,
        );
        this.#draw(trust === "gone" ? null : offer.history[index]);
        this.#flash(isLive ? offer.moves[index] : undefined);
    }

    #show(text, label, isBest) {
        setText(this.#number, text);
        if (this.element.ariaLabel !== label) this.element.ariaLabel = label;
        this.element.classList.toggle("best", isBest);
    }

    // The colour stays for a while and then fades (style sheet); a row that scrolls into view in
    // the meantime shows it as well.
    #flash(move) {
        const left = move === undefined ? 0 : move.at + MOVED_MS - performance.now();
        this.#settle();
        if (left <= 0) return;
        this.element.dataset.moved = move.isUp ? "up" : "down";
        this.#timer = setTimeout(() => this.#settle(), left);
    }

    #settle() {
        clearTimeout(this.#timer);
        delete this.element.dataset.moved;
    }

    /** The last prices as steps, the newest at the right edge. */
    #draw(history) {
        if (history === this.#drawn) return;
        this.#drawn = history;
        if (!(history?.length > 1)) return this.#spark?.remove();
        this.#spark ??= spark();
        this.#spark.firstChild.setAttribute("d", steps(history));
        if (this.#spark.parentNode === null) this.element.append(this.#spark);
    }
}

function spark() {
    const viewBox = `0 -1 ${SPARK.width} ${SPARK.height + 2}`;
    return svg("svg", { class: "spark", viewBox, "aria-hidden": "true" }, svg("path"));
}

function steps(values) {
    const low = Math.min(...values);
    const range = Math.max(...values) - low;
    const wide = SPARK.width / values.length;
    const points = values.map((value, index) => {
        const y = range === 0 ? SPARK.height / 2 : SPARK.height * (1 - (value - low) / range);
        return `${index === 0 ? "M0 " : "V"}${y.toFixed(1)}H${((index + 1) * wide).toFixed(1)}`;
    });
    return points.join("");
}
