// buttons filter the images; a press enlarges one; print shows what is folded
document.addEventListener("click", (event) => {
  const chip = event.target.closest(".chip");
  const tile = event.target.closest(".tile");
  if (chip) {
    const section = chip.closest("section");
    const kind = chip.dataset.kind;
    for (const other of section.querySelectorAll(".chip")) other.setAttribute("aria-pressed", other === chip);
    for (const one of section.querySelectorAll(".tile")) {
      one.hidden = kind !== "" && !one.dataset.kinds.split(" ").includes(kind);
    }
  }
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
