// The few things that a page does in the browser: choices within HTML, the fold of the data, downloads, lost answers.
window.openworld = {
  // a radio within HTML chooses what is shown in full: a model, or an image
  choices(element, trigger) {
    element.addEventListener("change", (event) => {
      const kind = element.querySelector(".chip[aria-pressed=true]")?.dataset.kind ?? "";
      trigger("select", { value: event.target.value, kind });
    });
  },
  // the secret of files that were dropped on the front page, or here before: Back and a reload find them again
  held() {
    const secret = location.hash.slice(1) || history.state?.held || "";
    history.replaceState({ ...history.state, held: secret }, "");
    return secret;
  },
  // press the link to a file that has just been made
  download() {
    setTimeout(() => document.querySelector("#download")?.click(), 50);
  },
};

let moves = { text: "[]", plots: [] };  // of the threshold that is chosen

// each page has a title of its own, a link past the data to the results, names for its plots, and thresholds in them
new MutationObserver(() => {
  const name = document.querySelector(".heading h1")?.textContent;
  if (!name) return;
  const title = name === "openworld-metrics" ? name : `${name} · openworld-metrics`;
  if (document.title !== title) document.title = title;
  const secret = document.querySelector(".data")?.dataset.held;
  if (secret && history.state?.held !== secret) history.replaceState({ ...history.state, held: secret }, "");
  if (location.hash && history.state?.held) history.replaceState(history.state, "", location.pathname + location.search);
  const only = document.querySelector("a[data-open]");
  if (only) {
    only.removeAttribute("data-open");
    location.assign(only.href);
  }
  const text = document.querySelector("[data-moves]")?.dataset.moves ?? "[]";
  if (text !== moves.text) moves = { text, plots: JSON.parse(text) };
  for (const { plot, traces, data, layout } of moves.plots) {
    const graph = document.querySelector(`#plot${plot} .js-plotly-plot`);
    if (graph?.data?.length > Math.max(...traces) && graph.layout.meta !== layout.meta) {
      window.Plotly.update(graph, data, layout, traces);
    }
  }
  const results = document.querySelector(".results");
  if (results && !document.querySelector(".skip")) {
    document.body.insertAdjacentHTML("afterbegin", '<nav aria-label="Skip"><a class="skip" href="#">Skip to the results</a></nav>');
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault();
      const shown = document.querySelector(".results");
      shown.tabIndex = -1;
      shown.focus();
    });
  }
  for (const plot of document.querySelectorAll(".js-plotly-plot:not([role])")) {
    const words = plot.closest(".picture")?.querySelector(".face")?.textContent ?? "Plot";
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", words.trim().replace(/\s+/g, " "));
  }
}).observe(document, { childList: true, subtree: true });

// leaving a page with files of one's own is a question, since they would be lost
let holdsFiles = false;
window.addEventListener("beforeunload", (event) => {
  if (holdsFiles) event.preventDefault();
});

// files that are too large are not sent: the server would refuse them without a reason
function refused(event, files) {
  const size = [...files].reduce((sum, file) => sum + file.size, 0);
  const rail = document.querySelector(".rail, .drop");
  rail?.querySelector(".too-large")?.remove();
  if (!rail || size <= window.openworldLimit) {
    holdsFiles ||= size > 0;
    return;
  }
  event.stopImmediatePropagation();
  event.preventDefault();
  const [has, takes] = [size, window.openworldLimit].map((bytes) => `${Math.round(bytes / 1e6)} MB`);
  const said = document.createElement("div");
  said.className = "said error too-large";
  said.setAttribute("role", "alert");
  said.textContent = `${files[0].name}: pages take at most ${takes} at once, not ${has}. The command reads it: `
    + `openworld-metrics compute ${rail.matches(".drop") ? "METRIC" : document.querySelector(".heading h1")?.textContent} `
    + files[0].name;
  if (rail.matches(".drop")) rail.append(said);
  else rail.querySelector(".data")?.after(said);
}
document.addEventListener("change", (event) => {
  if (event.target.type === "file") refused(event, event.target.files);
}, true);
document.addEventListener("drop", (event) => refused(event, event.dataTransfer?.files ?? []), true);

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
