// What the page knows: the photos and classes of the run, what moved last, and what is shown of it in which order.

/** @typedef {[number, number, number, number]} Box */
/** @typedef {{label: string, box: Box, score: number, doubt: number, absence: number, suspect: boolean, said: "unseen" | "accepted" | "corrected"}} Found */
/** @typedef {{id: string, name: string, width: number, height: number, readable: boolean, tags: string[], boxes: Found[], absent: string[]}} Photo */
/** @typedef {{label: string, photos: number, colour: string, ink: string, min_score: number, verdict: string, words: string, right: number, steps: number}} Thing */
/** @typedef {{title: string, done: number, total: number, left: number} | null} Progress */
/** @typedef {{studio: string, mark: string, number: number, title: string, may_add: boolean, busy: boolean, progress: Progress, trouble: string, undo: boolean, redo: boolean, counts: Record<string, number>, classes: Thing[], formats: string[], photos: Photo[]}} State */

/** @type {Map<string, Photo>} */
export const photos = new Map();
/** @type {Map<string, Thing>} */
export const things = new Map();
/** Photos and labels whose box moved and was not looked at since: "id label". @type {Set<string>} */
export const moved = new Set();
/** @type {{about: State | null, order: string[], things: Set<string>, state: string, doubt: number}} */
export const view = { about: null, order: [], things: new Set(), state: "", doubt: 0 };

/** Take in what the server says; the ids of photos that changed. @param {State} state @returns {string[]} */
export function take(state) {
  if (view.about && view.about.studio !== state.studio) photos.clear();
  for (const photo of state.photos) photos.set(photo.id, photo);
  things.clear();
  for (const thing of state.classes) things.set(thing.label, thing);
  view.about = state;
  return state.photos.map((photo) => photo.id);
}

/** @param {string} id @param {string} label */
export const place = (id, label) => `${id} ${label}`;

/** Whether one of the boxes of a photo moved. @param {Photo} photo */
export const hasMoved = (photo) => photo.tags.some((label) => moved.has(place(photo.id, label)));

/** The doubt in a photo that nobody has looked at, or less than nothing. @param {Photo} photo */
export function doubt(photo) {
  const open = photo.boxes.filter((box) => box.said === "unseen");
  return open.length ? Math.max(...open.map((box) => box.doubt)) : -1;
}

/** How much a photo needs a person: wrong tags first, then doubt. @param {Photo} photo @returns {number} */
function need(photo) {
  const suspects = photo.boxes.filter((box) => box.said === "unseen" && box.suspect);
  if (suspects.length) return 2 + Math.max(...suspects.map((box) => box.absence));
  return photo.boxes.length < photo.tags.length ? 1.5 : doubt(photo);
}

/** Put the photos in the order in which they need a person. */
export function sort() {
  const all = [...photos.values()];
  all.sort((one, other) => need(other) - need(one) || (one.name < other.name ? -1 : 1));
  view.order = all.map((photo) => photo.id);
}

/** Whether the filters let a photo through. @param {Photo} photo @returns {boolean} */
export function isShown(photo) {
  const { things: wanted, state, doubt: least } = view;
  if (wanted.size && ![...photo.tags, ...photo.absent].some((label) => wanted.has(label))) return false;
  if (least > 0 && doubt(photo) < least) return false;
  if (state === "suspect") return photo.boxes.some((box) => box.suspect && box.said === "unseen");
  if (state === "moved") return hasMoved(photo);
  if (state === "absent") return photo.absent.length > 0;
  return !state || photo.boxes.some((box) => box.said === state);
}

/** The ids of the photos that are shown, in their order. @returns {string[]} */
export const shown = () => view.order.filter((id) => { const photo = photos.get(id); return photo && isShown(photo); });

/** @param {number} share */
export const percent = (share) => `${Math.round(100 * share)}\u00a0%`;
/** @param {number} count @param {string} word */
export const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
