// The opened photo: its boxes, other places for the chosen thing, and every way to say where it is.

import { get, post } from "./api.js";
import { drawn, look } from "./draw.js";
import { percent, photos, things } from "./state.js";

/** @typedef {import("./state.js").Box} Box */
/** @typedef {import("./state.js").Photo} Photo */
/** @typedef {{label: string, box: Box}} Offer */

/** @param {string} id @returns {any} */
const find = (id) => document.getElementById(id);
const dialog = /** @type {HTMLDialogElement} */ (find("photo"));
const stage = /** @type {HTMLElement} */ (find("stage")), frame = /** @type {HTMLElement} */ (find("frame"));
const svg = /** @type {SVGSVGElement} */ (find("boxes")), names = /** @type {HTMLElement} */ (find("names"));
const CLICK = 4; // pixels that a click may move
const LEAST = 4; // pixels of a photo that a drawn box has at least

/** @type {{id: string, label: string, offers: Offer[], drawing: Box | null, byKeys: boolean, zoom: number, x: number, y: number, ids: string[]}} */
const now = { id: "", label: "", offers: [], drawing: null, byKeys: false, zoom: 1, x: 0, y: 0, ids: [] };
/** @type {{say: (words: string) => void, refresh: () => Promise<void>, closed: (id: string) => void, looked: (id: string) => void}} */
let outside;

export const isOpen = () => dialog.open;
/** @returns {Photo | undefined} */
const photo = () => photos.get(now.id);
const found = () => photo()?.boxes.find((box) => box.label === now.label);

/** Open a photo; arrows go through these ids. @param {string} id @param {string[]} ids */
export async function open(id, ids) {
  now.ids = ids;
  if (!dialog.open) dialog.showModal();
  await show(id);
  stage.focus();
}

/** @param {string} id */
async function show(id) {
  Object.assign(now, { id, offers: [], drawing: null, byKeys: false });
  const one = photo();
  if (!one) return;
  const rank = /** @param {string} label */ (label) => { const box = one.boxes.find((each) => each.label === label); return !box || box.said !== "unseen" ? -1 : box.doubt; };
  now.label = [...one.tags].sort((a, b) => rank(b) - rank(a))[0] ?? one.absent[0] ?? "";
  find("large").src = `/photo/${id}`;
  find("large").alt = one.name;
  fit();
  paint();
  outside.looked(id);
  const next = now.ids[now.ids.indexOf(id) + 1];
  if (next) new Image().src = `/photo/${next}`;
  const { places } = await get(`/photo/${id}/regions`).catch(() => ({ places: [] }));
  if (now.id === id) { now.offers = places; paint(); }
}

/** Other places of the chosen thing: what is there already is none. @returns {Offer[]} */
function offers() {
  const here = found()?.box;
  return now.offers.filter((one) => one.label === now.label && !(here && one.box.every((edge, at) => Math.abs(edge - (here[at] ?? 0)) < 1)));
}

/** Draw everything anew. */
export function paint() {
  const one = photo();
  if (!dialog.open || !one) return;
  svg.setAttribute("viewBox", `0 0 ${one.width || 1} ${one.height || 1}`);
  const others = offers().map((offer, at) => {
    const group = drawn(offer.box, offer.label, "offer");
    group.setAttribute("role", "button");
    group.setAttribute("tabindex", "0");
    group.setAttribute("data-offer", String(at));
    group.setAttribute("aria-label", `${offer.label}, place ${at + 1} of ${offers().length}`);
    return group;
  });
  const boxes = one.boxes.map((box) => drawn(box.box, box.label, `${look(box)} ${box.label === now.label ? "chosen" : ""}`));
  svg.replaceChildren(...others.reverse(), ...boxes, ...(now.drawing ? [drawn(now.drawing, now.label, "drawing")] : []));
  paintNames(one);
  paintPanel(one);
}

/** @param {Photo} one */
function paintNames(one) {
  const at = /** @param {Box} box @param {string} text @param {string} kind @param {string} label */ (box, text, kind, label) => {
    const name = document.createElement("span");
    if (kind === "number") name.setAttribute("data-place", text);
    name.textContent = text;
    name.className = kind;
    name.style.left = `${100 * box[0] / one.width}%`;
    name.style.top = `${100 * box[1] / one.height}%`;
    name.style.background = things.get(label)?.colour ?? "#fff";
    name.style.color = things.get(label)?.ink ?? "#000";
    return name;
  };
  const sign = { unseen: "", accepted: " ✓", corrected: " ✎" };
  names.replaceChildren(
    ...offers().slice(0, 9).map((offer, place) => at(offer.box, String(place + 1), "number", offer.label)),
    ...one.boxes.map((box) => at(box.box, `${box.label}${sign[box.said]}`, "name", box.label)),
  );
  names.style.setProperty("--shrink", String(1 / now.zoom));
}

/** @param {Photo} one */
function paintPanel(one) {
  const box = found(), absent = one.absent.includes(now.label) && !one.tags.includes(now.label);
  find("photo-name").textContent = `${now.ids.indexOf(now.id) + 1} of ${now.ids.length} · ${one.name}`;
  find("photo-tags").replaceChildren(...[...new Set([...one.tags, ...one.absent])].sort().map((label) => {
    const tag = document.createElement("button");
    tag.type = "button";
    tag.setAttribute("role", "radio");
    tag.setAttribute("aria-checked", String(label === now.label));
    tag.textContent = one.tags.includes(label) ? label : `no ${label}`;
    tag.style.borderColor = things.get(label)?.colour ?? "";
    tag.addEventListener("click", () => { now.label = label; paint(); });
    return tag;
  }));
  find("photo-words").textContent = words(one, box, absent);
  find("accept").disabled = !box || box.said !== "unseen";
  find("absent").disabled = !now.label || absent;
}

/** @param {Photo} one @param {import("./state.js").Found | undefined} box @param {boolean} absent */
function words(one, box, absent) {
  if (!one.readable) return "This photo cannot be read.";
  if (!now.label) return "Nobody has said what is in this photo.";
  if (absent) return `You said that there is no ${now.label} here.`;
  if (!box) return `${now.label} was not looked for yet.`;
  if (box.said === "accepted") return "You said that this is right.";
  if (box.said === "corrected") return "You said where it is.";
  if (box.suspect) return `Is there a ${now.label} at all? Probably not (${percent(box.absence)}).`;
  return `Probably right: ${percent(1 - box.doubt)}.`;
}

/** Say something about the chosen thing; it is on the disk when this is over. @param {object} what @param {string} done */
async function correct(what, done) {
  if (!now.label) { outside.say("Say first what the photo shows: T."); return false; }
  try {
    await post("/correct", { photo: now.id, label: now.label, ...what });
  } catch (error) {
    outside.say(/** @type {Error} */ (error).message);
    return false;
  } finally {
    now.drawing = null;
    now.byKeys = false;
  }
  outside.say(`${done} Saved.`);
  await outside.refresh();
  paint();
  return true;
}

export async function accept() {
  if (now.byKeys && now.drawing) { await correct({ kind: "shows", box: now.drawing }, "Box drawn."); return; }
  const box = found();
  if (!box) return;
  if (box.said !== "unseen" || await correct({ kind: "accept" }, `${now.label} is right.`)) onward();
}

/** To the next thing of this photo that nobody has looked at, or to the next photo. */
function onward() {
  const open = photo()?.boxes.find((box) => box.said === "unseen");
  if (open) { now.label = open.label; paint(); } else step(1);
}

export const absent = async () => { if (await correct({ kind: "shows not" }, `No ${now.label} in this photo.`)) onward(); };

/** @param {number} number */
export function choose(number) {
  const offer = offers()[number - 1];
  if (offer) correct({ kind: "shows", box: offer.box }, `${now.label} is there.`);
}

/** @param {number} by */
export function step(by) {
  const next = now.ids[now.ids.indexOf(now.id) + by];
  if (next) show(next); else outside.say(by > 0 ? "That was the last photo." : "That is the first photo.");
}

/** @param {number} by */
export function turn(by) {
  const labels = photo()?.tags ?? [];
  now.label = labels[(labels.indexOf(now.label) + by + labels.length) % labels.length] ?? now.label;
  paint();
}

/** @param {boolean} hidden */
export const hide = (hidden) => frame.classList.toggle("hidden", hidden);

// Looking closer.

export function fit() {
  const one = photo();
  const { clientWidth: wide, clientHeight: high } = stage;
  const ratio = one?.width ? one.width / one.height : 4 / 3;
  frame.style.width = `${Math.min(wide, high * ratio)}px`;
  frame.style.height = `${Math.min(wide, high * ratio) / ratio}px`;
  Object.assign(now, { zoom: 1, x: 0, y: 0 });
  transform();
}

function transform() {
  frame.style.transform = `translate(${now.x}px, ${now.y}px) scale(${now.zoom})`;
  names.style.setProperty("--shrink", String(1 / now.zoom));
}

/** Come closer, with one point staying where it is. @param {number} factor @param {number} [x] @param {number} [y] */
export function zoom(factor, x, y) {
  const box = stage.getBoundingClientRect();
  const px = (x ?? box.left + box.width / 2) - box.left - box.width / 2, py = (y ?? box.top + box.height / 2) - box.top - box.height / 2;
  const next = Math.min(Math.max(now.zoom * factor, 1), 12), real = next / now.zoom;
  Object.assign(now, next === 1 ? { zoom: 1, x: 0, y: 0 } : { zoom: next, x: px - (px - now.x) * real, y: py - (py - now.y) * real });
  transform();
}

// Drawing: with a mouse, a finger or keys.

/** @param {PointerEvent | MouseEvent} event @returns {[number, number]} */
function at(event) {
  const box = svg.getBoundingClientRect(), one = photo();
  const inside = /** @param {number} value @param {number} most */ (value, most) => Math.min(Math.max(value, 0), most);
  return [inside((event.clientX - box.left) / box.width, 1) * (one?.width ?? 0), inside((event.clientY - box.top) / box.height, 1) * (one?.height ?? 0)];
}

/** A click: the place whose number is under it, or what the server takes to be around it. @param {[number, number]} point @param {PointerEvent} event */
function click(point, event) {
  const under = document.elementsFromPoint(event.clientX, event.clientY);
  const place = under.find((one) => one.hasAttribute("data-place"))?.getAttribute("data-place");
  if (place != null) choose(Number(place));
  else correct({ kind: "points", point }, `${now.label} is there.`);
}

export function drawByKeys() {
  const one = photo();
  if (!one?.width || !now.label) return;
  const box = offers()[0]?.box ?? found()?.box ?? [one.width * 0.35, one.height * 0.35, one.width * 0.65, one.height * 0.65];
  now.drawing = [box[0], box[1], box[2], box[3]];
  now.byKeys = true;
  outside.say("Arrows move the box, Shift and arrows change its size, Enter keeps it, Escape lets it go.");
  paint();
}

/** Arrow keys while a box is drawn by keys; whether they were meant for it. @param {string} key @param {boolean} resize */
export function nudge(key, resize) {
  const one = photo();
  /** @type {Record<string, [number, number]>} */
  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const way = ways[key];
  if (!now.byKeys || !now.drawing || !way || !one) return false;
  const by = Math.max(one.width, one.height) / 50;
  const [x0, y0, x1, y1] = now.drawing, dx = way[0] * by, dy = way[1] * by;
  const held = /** @param {number} value @param {number} low @param {number} high */ (value, low, high) => Math.min(Math.max(value, low), high);
  if (resize) now.drawing = [x0, y0, held(x1 + dx, x0 + LEAST, one.width), held(y1 + dy, y0 + LEAST, one.height)];
  else {
    const mx = held(dx, -x0, one.width - x1), my = held(dy, -y0, one.height - y1);
    now.drawing = [x0 + mx, y0 + my, x1 + mx, y1 + my];
  }
  paint();
  return true;
}

/** Let a box go that is being drawn; whether there was one. */
export function cancel() {
  if (!now.drawing) return false;
  Object.assign(now, { drawing: null, byKeys: false });
  paint();
  return true;
}

/** @type {Map<number, PointerEvent>} */
const fingers = new Map();
let space = false;
/** @type {{x: number, y: number, from: [number, number], pan: boolean} | null} */
let press = null;
/** @param {boolean} held */
export const holdSpace = (held) => { space = held; stage.classList.toggle("pan", held); };

function down(/** @type {PointerEvent} */ event) {
  fingers.set(event.pointerId, event);
  stage.setPointerCapture(event.pointerId);
  if (fingers.size > 1) { cancel(); press = null; return; }
  const pan = space || event.button === 1;
  if (event.button === 0 || pan) press = { x: event.clientX, y: event.clientY, from: at(event), pan };
  event.preventDefault();
}

function move(/** @type {PointerEvent} */ event) {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  if (fingers.size === 2) {
    const other = [...fingers.values()].find((one) => one.pointerId !== event.pointerId);
    if (other) {
      const apart = /** @param {PointerEvent} one */ (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      zoom(apart(event) / Math.max(apart(before), 1), (event.clientX + other.clientX) / 2, (event.clientY + other.clientY) / 2);
    }
  }
  fingers.set(event.pointerId, event);
  if (press?.pan || fingers.size === 2) {
    now.x += (event.clientX - before.clientX) / fingers.size;
    now.y += (event.clientY - before.clientY) / fingers.size;
    transform();
  } else if (press && Math.hypot(event.clientX - press.x, event.clientY - press.y) >= CLICK) {
    const [x, y] = at(event), [fx, fy] = press.from;
    Object.assign(now, { drawing: [Math.min(x, fx), Math.min(y, fy), Math.max(x, fx), Math.max(y, fy)], byKeys: false });
    paint();
  }
}

function up(/** @type {PointerEvent} */ event) {
  fingers.delete(event.pointerId);
  const began = press;
  press = null;
  if (!began || began.pan) return;
  if (now.drawing && !now.byKeys) {
    const [x0, y0, x1, y1] = now.drawing;
    if (x1 - x0 >= LEAST && y1 - y0 >= LEAST) correct({ kind: "shows", box: now.drawing }, `${now.label} is there.`);
    else cancel();
  } else if (!now.byKeys) click(began.from, event);
}

/** Attend to the opened photo. @param {typeof outside} those */
export function attend(those) {
  outside = those;
  stage.addEventListener("pointerdown", down);
  stage.addEventListener("pointermove", move);
  stage.addEventListener("pointerup", up);
  stage.addEventListener("pointercancel", (event) => { fingers.delete(event.pointerId); press = null; cancel(); });
  stage.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY / 300), event.clientX, event.clientY); }, { passive: false });
  svg.addEventListener("keydown", (event) => {
    const chosen = /** @type {Element} */ (event.target).closest("[data-offer]")?.getAttribute("data-offer");
    if (chosen == null || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    event.stopPropagation();
    choose(Number(chosen) + 1);
  });
  find("accept").addEventListener("click", accept);
  find("absent").addEventListener("click", absent);
  find("before").addEventListener("click", () => step(-1));
  find("after").addEventListener("click", () => step(1));
  find("fit").addEventListener("click", fit);
  find("closer").addEventListener("click", () => zoom(1.5));
  find("farther").addEventListener("click", () => zoom(1 / 1.5));
  find("close-photo").addEventListener("click", () => dialog.close());
  find("retag").addEventListener("submit", async (/** @type {Event} */ event) => {
    event.preventDefault();
    const field = find("retag-label"), before = now.label;
    now.label = field.value.trim();
    if (!now.label || !(await correct({ kind: "tag" }, `${now.label} is in this photo.`))) { now.label = before; paint(); return; }
    field.value = "";
    stage.focus();
  });
  dialog.addEventListener("close", () => outside.closed(now.id));
  window.addEventListener("resize", () => { if (dialog.open) fit(); });
}

