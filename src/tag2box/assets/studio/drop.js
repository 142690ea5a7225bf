// Photos that are given: to the run, or only to be tried.

import { put } from "./api.js";
import { drawn } from "./draw.js";
import { counted, percent, photos } from "./state.js";

/** @param {string} id @returns {any} */
const find = (id) => document.getElementById(id);
const AT_ONCE = 2; // the browser has six connections, and one listens to events

/** @param {File[]} files @param {() => Promise<void>} refresh */
async function give(files, refresh) {
  const tag = find("drop-tag").value.trim();
  if (!tag) { find("drop-words").textContent = "Say first what they show."; find("drop-tag").focus(); return; }
  const waiting = [...files];
  /** @type {string[]} */
  const refused = [];
  let done = 0;
  const one = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      await put(`/photos/${encodeURIComponent(file.name.replaceAll("/", "_")) || "photo"}?tags=${encodeURIComponent(tag)}`, file)
        .then(() => { done += 1; }, (error) => refused.push(`${file?.name}: ${error.message}`));
      find("drop-words").textContent = `${done} of ${files.length} photos are there. ${refused.join(" ")}`;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  await refresh();
  find("drop-words").textContent = `${counted(done, "photo")} of ${tag} added. ${refused.join(" ")} Add more, or press Find.`;
}

/** @typedef {import("./state.js").Box} Box */
/** @typedef {{label: string, box: Box, score: number, found: boolean, like: {photo: string, box: Box, likeness: number}[]}} Seen */

/** Show a photo of the run. @type {(id: string) => void} */
let open = () => {};

/** A tagged region that a detection is like. @param {string} label @param {Seen["like"][0]} reason */
function because(label, reason) {
  const photo = photos.get(reason.photo), button = document.createElement("button");
  button.type = "button";
  button.innerHTML = '<img alt=""><svg aria-hidden="true"></svg>';
  /** @type {HTMLImageElement} */ (button.querySelector("img")).src = `/thumb/${reason.photo}`;
  const svg = /** @type {SVGElement} */ (button.querySelector("svg"));
  svg.setAttribute("viewBox", `0 0 ${photo?.width || 1} ${photo?.height || 1}`);
  svg.append(drawn(reason.box, label, "accepted"));
  button.title = `${photo?.name ?? ""}: ${percent(Math.max(reason.likeness, 0))} alike`;
  button.setAttribute("aria-label", `like ${label} in ${button.title}`);
  button.addEventListener("click", () => open(reason.photo));
  return button;
}

/** @param {Seen} one */
function explained(one) {
  const item = document.createElement("li"), words = document.createElement("p"), like = document.createElement("div");
  words.textContent = `${one.label}: ${percent(one.score)}${one.found ? "" : ", below its threshold"}${one.like.length ? ", because it is like" : ""}`;
  like.className = "like";
  like.append(...one.like.map((reason) => because(one.label, reason)));
  item.append(words, like);
  return item;
}

/** @param {File} file */
async function tryOut(file) {
  find("try-words").textContent = "Looking …";
  find("try-list").replaceChildren();
  try {
    /** @type {{width: number, height: number, boxes: Seen[]}} */
    const seen = await put("/detect", file);
    const picture = find("try-photo");
    URL.revokeObjectURL(picture.src);
    picture.src = URL.createObjectURL(file);
    find("try-frame").hidden = false;
    find("try-boxes").setAttribute("viewBox", `0 0 ${seen.width} ${seen.height}`);
    find("try-boxes").replaceChildren(...seen.boxes.filter((one) => one.found || one.score > 0.2).map((one) => drawn(one.box, one.label, one.found ? "accepted" : "doubtful")));
    const found = seen.boxes.filter((one) => one.found);
    find("try-words").textContent = found.length ? `Found: ${found.map((one) => one.label).join(", ")}.` : "Nothing known here.";
    find("try-list").replaceChildren(...seen.boxes.slice(0, 8).map(explained));
  } catch (error) {
    find("try-words").textContent = /** @type {Error} */ (error).message;
  }
}

/** Attend to files. @param {() => Promise<void>} refresh @param {() => boolean} mayAdd @param {(id: string) => void} show a photo of the run */
export function attend(refresh, mayAdd, show) {
  open = show;
  find("drop-files").addEventListener("change", () => { give([...find("drop-files").files], refresh); find("drop-files").value = ""; });
  find("try-file").addEventListener("change", () => { const [file] = find("try-file").files; if (file) tryOut(file); find("try-file").value = ""; });
  find("open-try").addEventListener("click", () => find("try").showModal());
  find("close-try").addEventListener("click", () => find("try").close());
  document.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.toggle("over", true); });
  document.addEventListener("dragleave", () => document.body.classList.toggle("over", false));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.toggle("over", false);
    const files = [...(event.dataTransfer?.files ?? [])];
    if (!files.length) return;
    if (find("try").open || !mayAdd()) { find("try").open || find("try").showModal(); tryOut(/** @type {File} */ (files[0])); } else give(files, refresh);
  });
}
