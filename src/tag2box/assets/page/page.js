"use strict";
// A click on a photo shows it large; arrow keys go to its neighbours, Escape goes back.
const photos = [...document.querySelectorAll(".photo")];
const dialog = document.querySelector("dialog");
let shown = 0;

function show(number) {
  shown = (number + photos.length) % photos.length;
  const figure = photos[shown].parentElement;
  const stage = dialog.querySelector(".stage");
  stage.style = figure.getAttribute("style");
  stage.replaceChildren(photos[shown].firstElementChild.cloneNode(true));
  stage.querySelector("image")?.removeAttribute("id");
  dialog.querySelector("p").textContent = figure.querySelector("figcaption").textContent;
  if (dialog.open) return;
  dialog.showModal();
  dialog.focus();
}

document.addEventListener("click", (event) => {
  const photo = event.target.closest(".photo");
  const by = event.target.closest("[data-by]")?.dataset.by;
  if (photo) show(photos.indexOf(photo));
  else if (by === "0" || event.target.matches("dialog, .stage")) dialog.close();
  else if (by) show(shown + Number(by));
});

dialog.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by) show(shown + by);
});

dialog.addEventListener("close", () => photos[shown].focus());
