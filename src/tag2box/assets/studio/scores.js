// How well a thing is told from others, as a chart: what it would be found with in its own photos, and elsewhere.

import { get } from "./api.js";
import { shape } from "./draw.js";
import { counted } from "./state.js";

const WIDE = 200, HIGH = 54, EDGE = 6, ROWS = { own: 16, elsewhere: 38 };
const CROWD = 5; // points of a row that stand above each other, not on each other

/** @param {number} score */
const across = (score) => EDGE + (WIDE - 2 * EDGE) * score;

/** @param {number[]} scores @param {"own" | "elsewhere"} row @param {string} colour */
const points = (scores, row, colour) => scores.map((score, at) =>
  shape("circle", { cx: across(score), cy: ROWS[row] + 2.4 * (at % CROWD - (CROWD - 1) / 2), r: 2.6, class: row, ...(row === "own" ? { fill: colour } : {}) }));

/** Draw the chart into a place; what moves its threshold. @param {HTMLElement} place @param {import("./state.js").Thing} thing @returns {Promise<(from: number) => void>} */
export async function openScores(place, thing) {
  /** @type {{own: number[], elsewhere: number[]}} */
  const { own, elsewhere } = await get(`/scores?label=${encodeURIComponent(thing.label)}`);
  const chart = shape("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img" });
  const line = shape("line", { y1: 2, y2: HIGH - 2 });
  chart.append(line, ...points(own, "own", thing.colour), ...points(elsewhere, "elsewhere", ""));
  const words = document.createElement("p");
  place.replaceChildren(chart, words);
  /** @param {number} from */
  const move = (from) => {
    line.setAttribute("x1", String(across(from)));
    line.setAttribute("x2", String(across(from)));
    const count = /** @param {number[]} scores */ (scores) => scores.filter((score) => score >= from).length;
    const others = elsewhere.length ? `, and in ${count(elsewhere)} of ${counted(elsewhere.length, "photo")} without it` : "";
    words.textContent = own.length ? `As if new, it is found in ${count(own)} of its ${counted(own.length, "photo")}${others}.` : "";
    chart.setAttribute("aria-label", `Scores of ${thing.label}. ${words.textContent}`);
  };
  move(thing.min_score);
  return move;
}
