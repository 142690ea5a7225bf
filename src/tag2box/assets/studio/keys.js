// Every key, with what it does: the table is the help, too.

import * as photo from "./photo.js";

/** @typedef {{undo: () => void, redo: () => void, help: () => void}} Acts */

export const KEYS = [
  ["← →, A D, K J", "photo before, next photo"],
  ["↑ ↓", "another thing in the same photo"],
  ["Enter", "the box is right, and on to the next"],
  ["X, Delete", "the thing is not in this photo"],
  ["1 … 9", "the thing is at the faint outline with that number"],
  ["click, drag", "the thing is under the point, or at the number; draw a box"],
  ["B", "draw with keys: arrows move, Shift + arrows resize, Enter keeps, Esc lets go"],
  ["T", "say what else the photo shows"],
  ["Ctrl + Z", "undo"],
  ["Ctrl + Y, Ctrl + Shift + Z", "redo"],
  ["H (hold)", "hide all boxes"],
  ["wheel, + −, 0", "closer, farther, whole photo"],
  ["Space + drag, middle button", "move the photo"],
  ["Esc", "let go, close"],
  ["?", "these keys"],
];

/** @param {KeyboardEvent} event */
function inText(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  return target.matches('input[type="text"], textarea, select');
}

/** Keys that work everywhere; whether one was meant. @param {KeyboardEvent} event @param {Acts} acts */
function anywhere(event, acts) {
  const key = event.key.toLowerCase();
  if ((event.ctrlKey || event.metaKey) && key === "z") (event.shiftKey ? acts.redo : acts.undo)();
  else if ((event.ctrlKey || event.metaKey) && key === "y") acts.redo();
  else if (event.key === "?") acts.help();
  else return false;
  return true;
}

/** @type {Record<string, () => void>} */
const OPENED = {
  arrowright: () => photo.step(1), d: () => photo.step(1), j: () => photo.step(1),
  arrowleft: () => photo.step(-1), a: () => photo.step(-1), k: () => photo.step(-1),
  arrowup: () => photo.turn(-1), arrowdown: () => photo.turn(1),
  enter: () => photo.accept(), x: () => photo.absent(), delete: () => photo.absent(), backspace: () => photo.absent(),
  b: () => photo.drawByKeys(), h: () => photo.hide(true), 0: () => photo.fit(),
  "+": () => photo.zoom(1.5), "=": () => photo.zoom(1.5), "-": () => photo.zoom(1 / 1.5), " ": () => photo.holdSpace(true),
  t: () => document.getElementById("retag-label")?.focus(),
};

/** Keys of the opened photo; whether one was meant. @param {KeyboardEvent} event */
function opened(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const onButton = /** @type {HTMLElement} */ (event.target).matches("button, a, input") && (event.key === "Enter" || event.key === " ");
  if (onButton) return false;
  if (event.key === "Escape") return photo.cancel();
  if (photo.nudge(event.key, event.shiftKey)) return true;
  if (/^[1-9]$/.test(event.key)) { photo.choose(Number(event.key)); return true; }
  const act = OPENED[event.key.toLowerCase()];
  if (act) act();
  return Boolean(act);
}

/** Attend to the keyboard. @param {Acts} acts */
export function attend(acts) {
  document.addEventListener("keydown", (event) => {
    if (inText(event)) {
      if (event.key === "Escape" && photo.isOpen()) { document.getElementById("stage")?.focus(); event.preventDefault(); }
      return;
    }
    if (anywhere(event, acts) || (photo.isOpen() && opened(event))) event.preventDefault();
  });
  document.addEventListener("keyup", (event) => {
    if (event.key.toLowerCase() === "h") photo.hide(false);
    if (event.key === " ") photo.holdSpace(false);
  });
}
