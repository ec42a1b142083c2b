// Creates elements. Text is never set as markup, because names are not trusted.

export const byId = (id) => document.getElementById(id);

/** Create an element with a class, attributes and children. */
export function element(tag, className = "", attributes = {}, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
}

/** Create a part of a grid: a row, a cell, a header. */
export function part(role, className, ...children) {
    return element("div", className, { role }, ...children);
}

export function svg(tag, attributes = {}, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
}

/** Set the text of `target` only if it differs, because screen readers read each text that is set. */
export function setText(target, text) {
    if (target.textContent !== text) target.textContent = text;
}
