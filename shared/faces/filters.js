// buttons above images leave those of a kind
document.addEventListener("click", (event) => {
  const chip = event.target.closest?.(".chip");
  if (!chip) return;
  const section = chip.closest("section");
  const kind = chip.dataset.kind;
  for (const other of section.querySelectorAll(".chip")) other.setAttribute("aria-pressed", other === chip);
  for (const one of section.querySelectorAll("[data-kinds]")) {
    one.hidden = kind !== "" && !one.dataset.kinds.split(" ").includes(kind);
  }
});
