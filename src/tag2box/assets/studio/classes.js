// The things: a verdict on each in words, a filter, and EM at work, step by step.

import { get, post } from "./api.js";
import { paintSome, pretend } from "./grid.js";
import { openScores } from "./scores.js";
import { counted, percent, things, view } from "./state.js";

/** @param {string} id @returns {any} */
const find = (id) => document.getElementById(id);
/** @type {{label: string, photos: string[], likelihoods: number[], steps: import("./state.js").Box[][]} | null} */
let film = null;
/** @type {() => void} */
let filtered = () => {};
/** What was shown before the film. @type {Set<string>} */
let before = new Set();

/** @param {import("./state.js").Thing} thing */
function card(thing) {
  const item = document.createElement("li");
  item.innerHTML = '<div class="thing"><button type="button" class="chip"></button><span class="verdict"></span></div><p></p><details><summary>More</summary><div class="scores"></div><label>Counts as found from <output></output><input type="range" min="0.05" max="0.95" step="0.05"></label><button type="button">Watch EM</button></details>';
  const chip = /** @type {HTMLElement} */ (item.querySelector(".chip"));
  chip.textContent = thing.label;
  chip.style.background = thing.colour;
  chip.style.color = thing.ink;
  chip.setAttribute("aria-pressed", String(view.things.has(thing.label)));
  chip.addEventListener("click", () => {
    if (!view.things.delete(thing.label)) view.things.add(thing.label);
    chip.setAttribute("aria-pressed", String(view.things.has(thing.label)));
    filtered();
  });
  const right = thing.steps ? `, about ${Math.round(thing.right)} right` : "";
  /** @type {HTMLElement} */ (item.querySelector(".verdict")).textContent = counted(thing.photos, "photo") + right;
  const words = /** @type {HTMLElement} */ (item.querySelector("p"));
  words.textContent = thing.words;
  words.className = thing.verdict;
  const score = /** @type {HTMLInputElement} */ (item.querySelector("input")), value = /** @type {HTMLElement} */ (item.querySelector("output"));
  score.value = String(thing.min_score);
  value.textContent = percent(thing.min_score);
  const details = /** @type {HTMLDetailsElement} */ (item.querySelector("details"));
  /** @type {Promise<(from: number) => void> | null} */
  let chart = null;
  details.addEventListener("toggle", () => {
    if (details.open && thing.steps) chart ??= openScores(/** @type {HTMLElement} */ (item.querySelector(".scores")), thing);
  });
  score.addEventListener("input", () => { value.textContent = percent(Number(score.value)); chart?.then((move) => move(Number(score.value))); });
  score.addEventListener("change", () => post("/threshold", { label: thing.label, min_score: Number(score.value) }));
  const watch = /** @type {HTMLButtonElement} */ (item.querySelector("details button"));
  watch.disabled = !thing.steps;
  watch.addEventListener("click", () => openFilm(thing.label));
  return item;
}

/** Show all things anew. */
export function paint() {
  const open = new Set([...find("classes").querySelectorAll("li")].filter((item) => item.querySelector("details")?.open).map((item) => item.querySelector(".chip")?.textContent));
  find("classes").replaceChildren(...[...things.values()].map((thing) => card(thing)));
  for (const item of find("classes").querySelectorAll("li")) item.querySelector("details").open = open.has(item.querySelector(".chip").textContent);
  find("labels").replaceChildren(...[...things.keys()].map((label) => { const option = document.createElement("option"); option.value = label; return option; }));
}

/** @param {string} label */
async function openFilm(label) {
  closeFilm();
  film = await get(`/film?label=${encodeURIComponent(label)}`);
  if (!film?.steps.length) { film = null; return; }
  before = view.things;
  view.things = new Set([label]);
  filtered();
  find("film").hidden = false;
  find("film-title").textContent = `EM on ${label}`;
  find("film-step").max = film.steps.length - 1;
  find("film-step").value = 0;
  const low = Math.min(...film.likelihoods), high = Math.max(...film.likelihoods), last = Math.max(film.steps.length - 1, 1);
  find("film-curve").querySelector("polyline").setAttribute("points", film.likelihoods.map((value, at) => `${100 * at / last},${28 - 26 * (value - low) / (high - low || 1)}`).join(" "));
  showStep();
  find("film-step").focus();
}

function showStep() {
  if (!film) return;
  const at = Number(find("film-step").value);
  film.photos.forEach((id, place) => { const box = film?.steps[at]?.[place]; if (box) pretend(id, film?.label ?? "", box); });
  find("film-words").textContent = `Step ${at} of ${film.steps.length - 1}, log likelihood ${film.likelihoods[at]?.toFixed(3)}`;
  const [x, y] = (find("film-curve").querySelector("polyline").getAttribute("points") ?? "").split(" ")[at].split(",");
  find("film-curve").querySelector("circle").setAttribute("cx", x);
  find("film-curve").querySelector("circle").setAttribute("cy", y);
}

/** Go back to the result. */
export function closeFilm() {
  if (!film) return;
  const { photos } = film;
  film = null;
  find("film").hidden = true;
  view.things = before;
  filtered();
  paintSome(photos);
}

/** Attend to the film. @param {() => void} show what the filters let through */
export function attend(show) {
  filtered = show;
  find("film-step").addEventListener("input", showStep);
  find("film-close").addEventListener("click", closeFilm);
}
