// Photos that are given: to the run, or only to be tried.

import { put } from "./api.js";
import { drawn } from "./draw.js";
import { counted, percent, photos } from "./state.js";

/** @param {string} id @returns {any} */
const find = (id) => document.getElementById(id);
const WITHOUT = "_none"; // the folder of photos that show none of the things
const AT_ONCE = 2; // the browser has six connections, and one listens to events

/** A photo, and the name of the folder that it is in. @typedef {{file: File, folder: string}} Given */

/** What is in a folder that was dropped, and in those inside. @param {FileSystemEntry} entry @param {string} folder @returns {Promise<Given[]>} */
async function inside(entry, folder) {
  if (entry.isFile) {
    const file = await new Promise((/** @type {(file: File) => void} */ done, failed) => /** @type {FileSystemFileEntry} */ (entry).file(done, failed));
    return [{ file, folder }];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  /** @type {Given[]} */
  const given = [];
  for (;;) { // a reader gives a hundred at a time
    const some = await new Promise((/** @type {(entries: FileSystemEntry[]) => void} */ done, failed) => reader.readEntries(done, failed));
    if (!some.length) return given;
    for (const one of some) given.push(...await inside(one, entry.name));
  }
}

/** @param {DataTransfer} dropped @returns {Promise<Given[]>} */
async function droppedFiles(dropped) {
  const entries = [...dropped.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  return (await Promise.all(entries.map((entry) => inside(entry, "")))).flat();
}

/** Photos of a folder that was chosen; files of other kinds are not meant. @param {Iterable<File>} files @returns {Given[]} */
const chosen = (files) => [...files].map((file) => ({ file, folder: file.webkitRelativePath.split("/").at(-2) ?? "" }));

/** @param {Given[]} all @param {() => Promise<void>} refresh */
async function give(all, refresh) {
  const typed = find("drop-tag").value.trim();
  const given = all.filter(({ file, folder }) => !folder || file.type.startsWith("image/"));
  if (!typed && given.some(({ folder }) => !folder)) { find("drop-words").textContent = "Say first what they show."; find("drop-tag").focus(); return; }
  const waiting = [...given];
  /** @type {string[]} */
  const refused = [];
  /** @param {Given} one */
  const tagOf = ({ folder }) => typed || (folder === WITHOUT ? "" : folder);
  const tags = [...new Set(given.map(tagOf))].filter(Boolean);
  let done = 0;
  const one = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { file } = next;
      await put(`/photos/${encodeURIComponent(file.name.replaceAll("/", "_")) || "photo"}?tags=${encodeURIComponent(tagOf(next))}`, file)
        .then(() => { done += 1; }, (error) => refused.push(`${file.name}: ${error.message}`));
      find("drop-words").textContent = `${done} of ${given.length} photos are there. ${refused.join(" ")}`;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  await refresh();
  find("drop-words").textContent = given.length ? `${counted(done, "photo")} of ${tags.join(", ")} added. ${refused.join(" ")} Add more, or press Find.` : "There are no photos in it.";
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
  words.textContent = `${one.label}: ${percent(one.score)}${one.found ? "" : ", below its threshold"}.${one.like.length ? " Most like:" : ""}`;
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
  find("drop-files").addEventListener("change", () => { give(chosen(find("drop-files").files), refresh); find("drop-files").value = ""; });
  find("drop-folder").addEventListener("change", () => { give(chosen(find("drop-folder").files), refresh); find("drop-folder").value = ""; });
  find("try-file").addEventListener("change", () => { const [file] = find("try-file").files; if (file) tryOut(file); find("try-file").value = ""; });
  find("open-try").addEventListener("click", () => find("try").showModal());
  find("close-try").addEventListener("click", () => find("try").close());
  document.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.toggle("over", true); });
  document.addEventListener("dragleave", () => document.body.classList.toggle("over", false));
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    document.body.classList.toggle("over", false);
    const [first] = event.dataTransfer?.files ?? [];
    if (!event.dataTransfer || !first) return;
    if (find("try").open || !mayAdd()) { find("try").open || find("try").showModal(); tryOut(first); } else give(await droppedFiles(event.dataTransfer), refresh);
  });
}
