// Making elements. Text is always set as text: names come from strangers.

export const byId = (id) => document.getElementById(id);

/** An element with a class, attributes and what is in it. */
export function element(tag, className = "", attributes = {}, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
}

/** A part of a grid: a row, a cell, a header. */
export function part(role, className, ...children) {
    return element("div", className, { role }, ...children);
}

export function svg(tag, attributes = {}, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
}

/** Set the text of `target` unless it has it already: writing again would be announced again. */
export function setText(target, text) {
    if (target.textContent !== text) target.textContent = text;
}
