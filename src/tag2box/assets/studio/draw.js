// Boxes as SVG. On photos no one colour is always seen, so every box is drawn twice: dark, and in its colour above.

import { things } from "./state.js";

/** @typedef {import("./state.js").Box} Box */

const NAMESPACE = "http://www.w3.org/2000/svg";
export const DOUBTFUL = 0.5;

/** @param {string} name @param {Record<string, string | number>} attributes @returns {SVGElement} */
export function shape(name, attributes) {
  const made = /** @type {SVGElement} */ (document.createElementNS(NAMESPACE, name));
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

/** @param {Box} box */
const edges = ([x0, y0, x1, y1]) => ({ x: x0, y: y0, width: Math.max(x1 - x0, 0), height: Math.max(y1 - y0, 0) });

/** A box in the colour of its thing. @param {Box} box @param {string} label @param {string} classes @returns {SVGElement} */
export function drawn(box, label, classes) {
  const group = shape("g", { class: `box ${classes}` });
  group.append(shape("rect", { ...edges(box), class: "under" }));
  group.append(shape("rect", { ...edges(box), class: "over", stroke: things.get(label)?.colour ?? "#ffffff" }));
  return group;
}

/** Move a box that is drawn. @param {Element} group @param {Box} box */
export function place(group, box) {
  for (const rect of group.querySelectorAll("rect")) {
    for (const [key, value] of Object.entries(edges(box))) rect.setAttribute(key, String(value));
  }
}

/** How a found box looks. @param {import("./state.js").Found} found @returns {string} */
export function look(found) {
  return `${found.said} ${found.said === "unseen" && found.doubt >= DOUBTFUL ? "doubtful" : ""}`;
}
