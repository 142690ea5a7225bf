// The page: hears what happens, keeps what it knows up to date, and shows it.

import { get, post } from "./api.js";
import * as classes from "./classes.js";
import * as drop from "./drop.js";
import * as grid from "./grid.js";
import * as keys from "./keys.js";
import * as opened from "./photo.js";
import { counted, moved, percent, photos, place, shown, sort, take, things, view } from "./state.js";
import { listen } from "./wire.js";

/** @param {string} id @returns {any} */
const find = (id) => document.getElementById(id);
/** @type {Promise<void> | null} */
let asking = null;
let again = false, fading = 0;
const LONG = 6000; // milliseconds that words stay

/** Say something in the line that is read aloud. @param {string} words */
export function say(words) {
  const live = find("live"), top = document.querySelector("dialog[open]") ?? document.body;
  if (live.parentElement !== top) top.append(live); // what lies behind an open dialog is neither seen nor read
  live.textContent = words;
  live.classList.toggle("there", Boolean(words));
  clearTimeout(fading);
  fading = setTimeout(() => live.classList.remove("there"), LONG);
}

/** Ask for what is new; several wishes at once are one. @returns {Promise<void>} */
async function refresh() {
  if (asking) { again = true; return asking; }
  asking = (async () => {
    do { again = false; apply(await get(`/state?after=${view.about?.number ?? 0}`)); } while (again);
  })().finally(() => { asking = null; });
  return asking;
}

/** @param {import("./state.js").State} state */
function apply(state) {
  if (view.about && view.about.studio !== state.studio) { location.reload(); return; }
  const fresh = view.about?.number !== state.number;
  const ids = take(state);
  if (!fresh) { paintHeader(); return; }
  grid.paintSome(ids);
  if (ids.length && !opened.isOpen()) { sort(); grid.arrange(); }
  classes.paint();
  paintHeader();
  opened.paint();
}

function paintHeader() {
  const about = view.about;
  if (!about) return;
  const { counts } = about;
  find("title").textContent = about.title;
  document.title = `${about.title} · tag2box studio`;
  const said = ["accepted", "corrected", "absent"].filter((state) => counts[state]).map((state) => `${counts[state]} ${state === "absent" ? "not there" : state}`);
  const looked = (counts.accepted ?? 0) + (counts.corrected ?? 0) + (counts.absent ?? 0);
  const boxes = counts.boxes === 1 ? "1 box" : `${counts.boxes ?? 0} boxes`;
  find("counts").textContent = [counted(counts.photos ?? 0, "photo"), boxes, `${looked} looked at${said.length ? ` (${said.join(", ")})` : ""}`].join(", ");
  find("undo").disabled = !about.undo;
  find("redo").disabled = !about.redo;
  find("find").disabled = about.busy || !things.size;
  find("drop").hidden = !about.may_add;
  find("trouble").hidden = !about.trouble;
  find("trouble").textContent = about.trouble;
  const ready = (counts.boxes ?? 0) > 0;
  find("takeaway").hidden = find("open-try").hidden = !ready;
  if (!find("formats").children.length) find("formats").replaceChildren(...about.formats.map((form) => {
    const link = document.createElement("a");
    link.href = `/export/${form}`;
    link.download = `tag2box-${form}.zip`;
    link.textContent = `Photos and boxes as ${form}`;
    return link;
  }));
  paintMany();
  paintProgress(about.progress, about.busy);
}

/** The boxes of the shown things that nobody has looked at and that are hardly doubted. */
const hardlyDoubted = () => [...photos.values()].flatMap((photo) => photo.boxes).filter((box) =>
  box.said === "unseen" && !box.suspect && box.doubt <= Number(find("many-doubt").value) && (!view.things.size || view.things.has(box.label)));

/** What would be accepted at once. */
function paintMany() {
  const count = hardlyDoubted().length, things = [...view.things];
  find("many").hidden = !view.about?.counts.unseen;
  find("many-value").textContent = percent(Number(find("many-doubt").value));
  find("many-accept").textContent = `Accept ${count === 1 ? "1 box" : `${count} boxes`}${things.length ? ` of ${things.join(", ")}` : ""}`;
  find("many-accept").disabled = !count || view.about?.busy;
}

async function acceptMany() {
  try {
    const { accepted } = await post("/accept", { max_doubt: Number(find("many-doubt").value), labels: [...view.things] });
    await refresh();
    say(`${accepted === 1 ? "1 box is" : `${accepted} boxes are`} right. Saved; one Undo takes all of them back.`);
  } catch (error) { say(/** @type {Error} */ (error).message); }
}

/** @param {import("./state.js").Progress} progress @param {boolean} busy */
function paintProgress(progress, busy) {
  find("progress").hidden = !busy && !progress;
  if (progress) { find("bar").max = progress.total; find("bar").value = progress.done; } else find("bar").removeAttribute("value");
  const left = progress && progress.left >= 1 ? `, ${Math.round(progress.left)} s left` : "";
  find("progress-words").textContent = progress ? `${progress.title}: ${progress.done} of ${progress.total}${left}` : "Finding …";
}

/** How many photos changed and were not looked at since. */
function paintChanges() {
  const count = new Set([...moved].map((one) => one.slice(0, one.indexOf(" ")))).size;
  for (const id of ["changes", "photo-changes"]) {
    find(id).hidden = !count;
    find(id).textContent = `${counted(count, "photo")} changed`;
  }
}

/** @param {{photo: string, label: string}[]} places */
async function solved(places) {
  const before = [...moved].map((one) => one.slice(0, one.indexOf(" ")));
  moved.clear();
  for (const one of places) moved.add(place(one.photo, one.label));
  await refresh();
  const ids = [...new Set(places.map((one) => one.photo))];
  grid.paintSome([...before, ...ids]);
  grid.flash(ids);
  paintChanges();
  if (view.about && (view.about.undo || places.length)) say(ids.length ? `${counted(ids.length, "photo")} changed.` : "No other photo changed.");
}

/** @param {import("./wire.js").Heard} heard */
function hear({ kind, body }) {
  if (kind === "reload") location.reload();
  else if (kind === "state") refresh();
  else if (kind === "solved") solved(body.moved);
  else if (kind === "progress" && view.about) { view.about.progress = body; view.about.busy = view.about.busy || Boolean(body); paintProgress(body, view.about.busy); }
  else if (kind === "moved") for (const [id, box] of Object.entries(body.boxes)) grid.pretend(id, body.label, box);
  else if (kind === "learned" && view.about) find("progress-words").textContent = `${body.label}: about ${Math.round(body.right)} right`;
}

/** @param {string} address @param {string} nothing */
async function turn(address, nothing) {
  try {
    const { correction } = await post(address);
    await refresh();
    say(correction === null ? nothing : address === "/undo" ? "Undone." : "Done again.");
  } catch (error) { say(/** @type {Error} */ (error).message); }
}

function attend() {
  const acts = { undo: () => turn("/undo", "There is nothing to undo."), redo: () => turn("/redo", "There is nothing to do again."), help: () => find("help").showModal() };
  find("undo").addEventListener("click", acts.undo);
  find("redo").addEventListener("click", acts.redo);
  find("open-help").addEventListener("click", acts.help);
  find("close-help").addEventListener("click", () => find("help").close());
  find("find").addEventListener("click", () => post("/find").then(refresh, (error) => say(error.message)));
  find("changes").addEventListener("click", () => { find("filter-state").value = view.state = "moved"; grid.arrange(); });
  find("filter-state").addEventListener("change", () => { view.state = find("filter-state").value; grid.arrange(); });
  find("filter-doubt").addEventListener("input", () => { view.doubt = Number(find("filter-doubt").value); find("doubt-value").textContent = percent(view.doubt); grid.arrange(); });
  find("many-doubt").addEventListener("input", paintMany);
  find("many-accept").addEventListener("click", acceptMany);
  find("help-keys").replaceChildren(...keys.KEYS.map(([key, words]) => {
    const row = document.createElement("tr");
    for (const text of [key, words]) { const cell = document.createElement("td"); cell.textContent = text ?? ""; row.append(cell); }
    return row;
  }));
  grid.attend((id) => { classes.closeFilm(); opened.open(id, shown()); });
  opened.attend({ say, refresh, looked, closed });
  keys.attend(acts);
  classes.attend(() => { grid.arrange(); paintMany(); });
  drop.attend(refresh, () => Boolean(view.about?.may_add), (id) => { find("try").close(); opened.open(id, [id]); });
}

/** Back in the grid: on the photo that was open, or on the next that needs a person. @param {string} id */
function closed(id) {
  document.body.append(find("live"));
  sort();
  grid.arrange();
  const open = photos.get(id)?.boxes.some((box) => box.said === "unseen");
  grid.reach(open ? id : shown()[0] ?? id, true);
}

/** Somebody looks at a photo: its change is no news any more. @param {string} id */
function looked(id) {
  for (const one of [...moved]) if (one.startsWith(`${id} `)) moved.delete(one);
  paintChanges();
  grid.paintSome([id]);
}

attend();
apply(await get("/state"));
sort();
grid.arrange();
listen(view.about?.mark ?? "", hear, (there) => { if (!there) say("The studio does not answer. Is it still running?"); else if (find("live").textContent?.startsWith("The studio")) say("The studio is back."); });
document.documentElement.dataset.ready = "yes";
