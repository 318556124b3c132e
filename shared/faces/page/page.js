// The few things that a page does in the browser: choices within HTML, the fold of the data, downloads, lost answers.
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

// Gradio closes its stream of answers when none is due. A request of just that moment is answered into a stream that
// nobody reads, until another request opens it again: #again, a little after each request but the first.
let own = 1;
let later;
new PerformanceObserver((list) => {
  for (const { name } of list.getEntries()) {
    if (!name.includes("/queue/join")) continue;
    if (own) {
      own -= 1;
      continue;
    }
    clearTimeout(later);
    later = setTimeout(() => {
      own += 1;
      document.querySelector("#again")?.click();
    }, 1500);
  }
}).observe({ type: "resource" });
