// a press enlarges an image; print shows what is folded
document.addEventListener("click", (event) => {
  const tile = event.target.closest(".tile");
  if (tile) tile.setAttribute("aria-expanded", tile.classList.toggle("large"));
});
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const fold of folded) fold.open = true;
});
addEventListener("afterprint", () => {
  for (const fold of folded) fold.open = false;
});
