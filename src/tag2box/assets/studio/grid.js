// The grid: a tile for each photo, those first that need a person. Tiles far away cost nothing until they are seen.

import { drawn, look, place as put } from "./draw.js";
import { hasMoved, moved, percent, photos, place, shown } from "./state.js";

/** @typedef {import("./state.js").Photo} Photo */

const grid = /** @type {HTMLElement} */ (document.getElementById("grid"));
/** @type {Map<string, HTMLLIElement>} */
const tiles = new Map();
const AT_ONCE = 60;
let reached = "";

/** What stands under a photo. @param {Photo} photo @returns {string} */
function caption(photo) {
  if (!photo.readable) return "cannot be read";
  const words = photo.boxes.map((box) => {
    if (box.said !== "unseen") return `${box.label} ${box.said === "accepted" ? "✓" : "✎"}`;
    return box.suspect ? `${box.label}? ${percent(box.absence)} not there` : `${box.label} ${percent(1 - box.doubt)}\u00a0right`;
  });
  const lost = photo.tags.filter((label) => !photo.boxes.some((box) => box.label === label));
  return [...words, ...lost, ...photo.absent.map((label) => `no ${label}`)].join(" · ") || "no tag";
}

/** @param {Photo} photo @returns {HTMLLIElement} */
function made(photo) {
  const tile = document.createElement("li");
  tile.innerHTML = '<button type="button" class="tile" tabindex="-1"><span class="well"><img loading="lazy" decoding="async" alt=""><svg aria-hidden="true"></svg></span><span class="caption"></span></button>';
  const button = /** @type {HTMLButtonElement} */ (tile.firstElementChild);
  button.dataset.id = photo.id;
  /** @type {HTMLImageElement} */ (tile.querySelector("img")).src = `/thumb/${photo.id}`;
  return tile;
}

/** Draw the boxes and words of a photo anew. @param {Photo} photo */
function paint(photo) {
  const tile = tiles.get(photo.id);
  if (!tile) return;
  const svg = /** @type {SVGElement} */ (tile.querySelector("svg"));
  svg.setAttribute("viewBox", `0 0 ${photo.width || 1} ${photo.height || 1}`);
  svg.replaceChildren(...photo.boxes.map((box) => {
    const group = drawn(box.box, box.label, `${look(box)} ${moved.has(place(photo.id, box.label)) ? "moved" : ""}`);
    group.setAttribute("data-label", box.label);
    return group;
  }));
  const words = caption(photo);
  const button = /** @type {HTMLElement} */ (tile.firstElementChild);
  /** @type {HTMLElement} */ (tile.querySelector(".caption")).textContent = words;
  button.setAttribute("aria-label", `${photo.name}: ${words}${hasMoved(photo) ? ", changed" : ""}`);
  button.title = photo.name;
  button.classList.toggle("crossed", photo.absent.length > 0 && !photo.tags.length);
  button.classList.toggle("suspect", photo.boxes.some((box) => box.suspect && box.said === "unseen"));
  button.classList.toggle("changed", hasMoved(photo));
}

/** Draw some photos anew. @param {Iterable<string>} ids */
export function paintSome(ids) {
  for (const id of ids) { const photo = photos.get(id); if (photo) paint(photo); }
}

/** Let a box flash where it moved. @param {Iterable<string>} ids */
export function flash(ids) {
  for (const id of ids) {
    const tile = tiles.get(id);
    if (!tile) continue;
    tile.classList.remove("flash");
    void tile.offsetWidth; // the animation starts anew
    tile.classList.add("flash");
  }
}

/** Show a box elsewhere for a moment: EM at work. @param {string} id @param {string} label @param {import("./state.js").Box} box */
export function pretend(id, label, box) {
  const tile = tiles.get(id), photo = photos.get(id);
  const svg = tile?.querySelector("svg");
  if (!svg || !photo?.width) return;
  const group = [...svg.children].find((one) => one.getAttribute("data-label") === label);
  if (group) { put(group, box); return; }
  svg.setAttribute("viewBox", `0 0 ${photo.width} ${photo.height}`);
  const fresh = drawn(box, label, "step");
  fresh.setAttribute("data-label", label);
  svg.append(fresh);
}

/** Put all tiles in their order; the first at once, the others when there is time. */
export function arrange() {
  const ids = shown();
  const wanted = new Set(ids);
  for (const [id, tile] of tiles) if (!wanted.has(id)) tile.remove();
  /** @param {number} from */
  const some = (from) => {
    for (const id of ids.slice(from, from + AT_ONCE)) {
      const photo = /** @type {Photo} */ (photos.get(id));
      if (!tiles.has(id)) { tiles.set(id, made(photo)); paint(photo); }
      const tile = /** @type {HTMLLIElement} */ (tiles.get(id));
      grid.append(tile);
    }
    if (from + AT_ONCE < ids.length) setTimeout(() => some(from + AT_ONCE), 0);
    else reach(wanted.has(reached) ? reached : ids[0] ?? "", false);
  };
  some(0);
  const all = photos.size;
  /** @type {HTMLElement} */ (document.getElementById("shown")).textContent = ids.length === all ? `${all} photos` : `${ids.length} of ${all} photos`;
}

/** Make one tile the one that Tab reaches. @param {string} id @param {boolean} focus */
export function reach(id, focus) {
  const button = /** @param {string} one */ (one) => /** @type {HTMLElement | undefined} */ (tiles.get(one)?.firstElementChild ?? undefined);
  button(reached)?.setAttribute("tabindex", "-1");
  reached = id;
  button(id)?.setAttribute("tabindex", "0");
  if (focus) button(id)?.focus();
}

/** Arrow keys go from tile to tile, Enter opens. @param {(id: string) => void} open */
export function attend(open) {
  grid.addEventListener("click", (event) => {
    const id = /** @type {HTMLElement} */ (event.target).closest("button")?.dataset.id;
    if (id) { reach(id, false); open(id); }
  });
  grid.addEventListener("keydown", (event) => {
    const ids = shown(), at = ids.indexOf(reached);
    const across = Math.max(1, getComputedStyle(grid).gridTemplateColumns.split(" ").length);
    /** @type {Record<string, number>} */
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across, Home: -at, End: ids.length - 1 - at };
    const step = steps[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    reach(ids[Math.min(Math.max(at + step, 0), ids.length - 1)] ?? reached, true);
  });
}

