// A list of facts by name, updated in place.

import { element, setText } from "./dom.js";

/** Write facts by name into a list; its elements are made again only if the names change. */
export function showFacts(list, facts) {
    const names = [...list.children].map((row) => row.firstChild.textContent);
    if (names.join("\n") !== Object.keys(facts).join("\n")) {
        const rows = Object.keys(facts).map((name) =>
            element("div", "", {}, element("dt", "", {}, name), element("dd")),
        );
        list.replaceChildren(...rows);
    }
    Object.values(facts).forEach((fact, index) => setText(list.children[index].lastChild, String(fact)));
}
