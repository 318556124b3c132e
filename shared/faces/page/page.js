// The few things that a page does in the browser: choices within HTML, the fold of the data, and downloads.
window.openworld = {
  // a radio within HTML chooses what is shown in full: a model, or an image
  choices(element, trigger) {
    element.addEventListener("change", (event) => trigger("select", { value: event.target.value }));
  },
  // press the link to a file that has just been made
  download() {
    setTimeout(() => document.querySelector("#download")?.click(), 50);
  },
};

// on a narrow page the data are one line, which unfolds
document.addEventListener("click", (event) => {
  const button = event.target.closest?.(".rail button.unfold");
  if (!button) return;
  const open = button.closest(".rail").classList.toggle("open");
  button.setAttribute("aria-expanded", String(open));
});
