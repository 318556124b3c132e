// What moves on a page without the server: the threshold, digits of numbers, pictures and tables to take away.
(() => {
  const copying = window.openworldCopying;
  const plotsOf = (name) => [...document.querySelectorAll(`#${name}-results .js-plotly-plot`)];
  const sum = (counts, names, i) => names.reduce((total, name) => total + counts[name][i], 0);
  const short = (value) => {
    if (value === null) return "inf";
    if (Number.isInteger(value) && Math.abs(value) >= 1000) return value.toLocaleString("en");
    const size = Math.abs(value);
    if (value !== 0 && !(size >= 1e-5 && size < 1e6)) return value.toExponential(2);
    if (size > 0 && size < 5e-4) return value.toFixed(size >= 1e-4 ? 5 : 6);
    let digits = 3;  // more where three would read as 1, which it is not
    while (digits < 16 && Math.abs(value) !== 1 && Math.abs(+value.toFixed(digits)) === 1) digits += 1;
    return value.toFixed(digits);
  };

  // fraction or percent: one of them on a whole page, whatever is drawn anew
  const inPercent = {};
  const percentage = (share) => {
    // rounded before it is multiplied, since a product is rounded, too
    const text = (digits) => (100 * share.toFixed(digits + 2)).toFixed(digits);
    let digits = 1;  // more where one would read as 0 or 100, which it is not
    while (digits < 12 && ![0, 1].includes(share) && [0, 100].includes(Math.abs(+text(digits)))) digits += 1;
    return text(digits);
  };
  const asShown = (cell, percent) => {
    const full = +cell.dataset.full;
    const kinds = cell.classList, inPercent = percent && kinds.contains("rate");
    const digits = (value) => (inPercent ? percentage(value) : short(value));
    const text = kinds.contains("difference")
      ? `${full < 0 ? "−" : "+"}${digits(Math.abs(full))}${inPercent && kinds.contains("points") ? " points" : ""}`
      : `${digits(full)}${inPercent ? " %" : ""}`;
    if (cell.textContent !== text) cell.textContent = text;
  };

  // the threshold
  const value = (sweep, name, i) => {
    if (name === "threshold") return sweep.thresholds[i];
    if (name in sweep.values) return sweep.values[name][i];
    const [above, below] = sweep.rates[name].map((names) => sum(sweep.counts, names, i));
    return below ? above / below : 0;
  };
  const sweepOf = (box) => box.sweep ??= JSON.parse(box.dataset.sweep);
  const rangeOf = (box) => box.querySelector("input[type=range]");
  const placeOf = (box) => box.place ??= +rangeOf(box).defaultValue;
  // under a picture with an axis of thresholds the slider has that axis, and its thumb is below the line; elsewhere all
  // thresholds lie at equal distances
  const THUMB = 8;  // half its width, by which it is drawn within the slider
  const align = (box) => {
    const slider = rangeOf(box), plots = plotsOf(box.dataset.name);
    const plot = plots.find((one) => one.data?.some((trace) => trace.meta?.x === "threshold"));
    const ground = plot?.querySelector(".nsewdrag")?.getBoundingClientRect();
    if (ground?.width) {
      const [low, high] = plot._fullLayout.xaxis.range;
      Object.assign(slider, {min: low, max: high, step: "any"});
      slider.style.width = `${ground.width + 2 * THUMB}px`;
      slider.style.marginLeft = `${ground.left - box.getBoundingClientRect().left - THUMB}px`;
    }
    showPlace(box);
  };
  const showPlace = (box) => {
    const sweep = sweepOf(box), slider = rangeOf(box), i = placeOf(box);
    slider.value = slider.step === "any" ? sweep.thresholds[i] ?? (i ? slider.max : slider.min) : i;
  };
  // what a screen reader says of the slider: the threshold and its rates, as the page shows them
  const speak = (box) => {
    const sweep = sweepOf(box), slider = rangeOf(box), i = placeOf(box);
    const said = (name) => {
      const percent = inPercent[box.dataset.name] && !sweep.ratios.includes(name), now = value(sweep, name, i);
      return `${name} ${percent ? `${percentage(now)} %` : short(now)}`;
    };
    const spoken = [sweep.texts[i], ...[...Object.keys(sweep.rates), ...Object.keys(sweep.values)].map(said)].join(", ");
    if (slider.getAttribute("aria-valuetext") !== spoken) slider.setAttribute("aria-valuetext", spoken);
  };
  const move = (box, place, promise = "") => {
    const sweep = sweepOf(box), i = box.place = Math.max(0, Math.min(place, sweep.thresholds.length - 1));
    showPlace(box);
    speak(box);
    box.querySelector("[data-typed]").value = sweep.texts[i];
    for (const cell of box.querySelectorAll("[data-count]"))
      cell.textContent = sweep.counts[cell.dataset.count][i].toLocaleString("en");
    for (const cell of box.querySelectorAll("[data-rate]")) {
      const now = value(sweep, cell.dataset.rate, i);
      cell.dataset.full = now;
      asShown(cell, inPercent[box.dataset.name]);
    }
    for (const button of box.querySelectorAll("[data-preset]"))
      button.setAttribute("aria-pressed", sweep.presets[button.dataset.preset] === i);
    const choice = box.querySelector("[data-promise]"), said = box.querySelector(".promise");
    if (choice) {
      choice.value = promise;
      said.hidden = !promise;
      said.firstChild.textContent = (sweep.promises[promise] ?? "").replace("{threshold}", sweep.texts[i]);
    }
    follow(box);
  };
  // the marks in the figures, where they are not at the slider's threshold
  const follow = (box) => {
    const sweep = sweepOf(box), i = placeOf(box);
    for (const plot of plotsOf(box.dataset.name))
      (plot.data ?? []).forEach((trace, k) => {
        if (!trace.meta?.x) return;
        const x = value(sweep, trace.meta.x, i), y = trace.meta.y && value(sweep, trace.meta.y, i);
        if (trace.x?.[0] === x && (!trace.meta.y || trace.y?.[0] === y)) return;
        window.Plotly.restyle(plot, trace.meta.y ? {x: [[x]], y: [[y]]} : {x: [[x, x]]}, [k]);
      });
  };
  // a link may open the page at a threshold; figures may be drawn after the slider
  const openedAt = () => {
    for (const box of document.querySelectorAll(".threshold[data-at]")) {
      if (!box.opened) type(box, box.dataset.at);
      else follow(box);
      box.opened = true;
    }
  };
  // thresholds ascend: the place with the decisions of a number, or whose threshold is nearest where some are left out
  const placeFor = (box, number) => {
    const {ends, thresholds} = sweepOf(box);
    if (ends) return ends.findIndex((end) => end === null || number < end);
    const away = sweepOf(box).thresholds.map((threshold) => threshold === null ? Infinity : Math.abs(threshold - number));
    return away.indexOf(Math.min(...away));
  };
  // what is typed stays as it is, if its decisions are shown
  const type = (box, text) => {
    const number = parseFloat(text.replace("−", "-").replace(",", "."));
    move(box, isNaN(number) ? placeOf(box) : placeFor(box, number));
    if (sweepOf(box).ends && !isNaN(number)) box.querySelector("[data-typed]").value = text.trim();
  };
  // the place whose mark is where a point of a curve is; of a threshold, the place that makes its decisions: shown
  // thresholds are the shortest decimals from it up to the next
  const placeAt = (box, plot, {x, y}, names) => {
    const sweep = sweepOf(box), {xaxis, yaxis} = plot._fullLayout;
    if (names.x === "threshold") {
      const place = sweep.thresholds.findIndex((threshold) => threshold >= x);
      return place < 0 ? sweep.thresholds.length - 1 : place;
    }
    const away = sweep.thresholds.map((_, i) => Math.hypot(
      xaxis.d2p(value(sweep, names.x, i)) - xaxis.d2p(x), yaxis.d2p(value(sweep, names.y, i)) - yaxis.d2p(y)));
    return away.indexOf(Math.min(...away));
  };
  // a click on a curve moves the threshold there, one on a bar lists its samples
  const pressed = (plot, {points: [point]}) => {
    const name = plot.closest("[id$=-results]").id.replace("-results", ""), {meta, customdata} = point.data;
    const box = document.querySelector(`#${name}-threshold .threshold`);
    const mark = plot.data.find((trace) => trace.meta?.x && trace.meta.y);
    if (meta?.steers && box && mark) move(box, placeAt(box, plot, point, mark.meta));
    if (!meta?.kind) return;
    const at = point.customdata, last = JSON.stringify(at) === JSON.stringify(customdata[customdata.length - 1]);
    ask(name, {kind: meta.kind, at, last});
  };
  const handlers = new WeakMap();
  const listen = () => {  // a plot that is drawn anew has lost its listeners
    for (const plot of document.querySelectorAll("[id$=-results] .js-plotly-plot")) {
      if (!handlers.has(plot)) handlers.set(plot, (event) => pressed(plot, event));
      plot.removeListener?.("plotly_click", handlers.get(plot));
      plot.on?.("plotly_click", handlers.get(plot));
    }
  };
  // the server lists the samples of a bar or a cell; the same question twice is two questions
  let questions = 0;
  const ask = (name, question) => {
    questions += 1;
    const field = document.querySelector(`#${name}-asked :is(input, textarea)`);
    field.value = JSON.stringify({...question, questions});
    field.dispatchEvent(new Event("input", {bubbles: true}));
  };
  const list = (button) => {
    const box = button.closest(".threshold"), {kind, above} = button.dataset;
    const at = sweepOf(box).thresholds[placeOf(box)];
    ask(box.dataset.name, {kind, above: above === "true", at});
  };
  let waiting = false;
  document.addEventListener("input", (event) => {
    const box = event.target.closest?.(".threshold");
    if (!box || event.target.type !== "range" || waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      const {step, value} = event.target;
      move(box, step === "any" ? placeFor(box, +value) : +value);
    });
  });
  // keys go from threshold to threshold
  document.addEventListener("keydown", (event) => {
    const box = event.target.closest?.(".threshold");
    if (!box || event.target.type !== "range") return;
    const place = placeOf(box), last = sweepOf(box).thresholds.length - 1, leap = Math.ceil(last / 10);
    const to = {
      ArrowRight: place + 1, ArrowUp: place + 1, ArrowLeft: place - 1, ArrowDown: place - 1,
      PageUp: place + leap, PageDown: place - leap, Home: 0, End: last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    move(box, to);
  });
  document.addEventListener("change", (event) => {
    const box = event.target.closest?.(".threshold");
    if (!box) return;
    if ("typed" in event.target.dataset) {
      type(box, event.target.value);
    } else if ("promise" in event.target.dataset) {
      const words = event.target.value;
      move(box, words ? sweepOf(box).presets[words] : placeOf(box), words);
    }
  });

  // what is taken away
  const save = (content, file) => {
    const link = document.createElement("a");
    link.href = content.startsWith("data:") ? content : URL.createObjectURL(new Blob([content]));
    link.download = file;
    link.click();
    if (link.href.startsWith("blob:")) URL.revokeObjectURL(link.href);
  };
  const picture = (plot, title, format, ground = "white") => {
    const layout = structuredClone(plot.layout), {width, height} = plot.getBoundingClientRect();
    Object.assign(layout, {paper_bgcolor: ground, plot_bgcolor: ground, title: {text: title, font: {size: 15}}});
    layout.font = {...layout.font, color: "#18181b"};
    layout.margin = {...layout.margin, t: 48};
    const size = {width: Math.max(600, Math.round(width)), height: Math.round(height) + 10};
    return window.Plotly.toImage({data: plot.data, layout}, {format, scale: format === "png" ? 3 : 1, ...size});
  };
  const quoted = (cell) => {
    const plain = String(cell ?? "");  // what begins like a formula is none in a spreadsheet
    const text = /^[=+\-@\t\r]/.test(plain) && isNaN(plain) ? `'${plain}` : plain;
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const table = (plot) => {
    const lines = [["trace", "x", "y", "z", "text"]];
    for (const {name, x = [], y = [], z, text} of plot.data) {
      if (z) z.forEach((row, j) => row.forEach((cell, i) => lines.push([name, x[i], y[j], cell, text?.[j]?.[i]])));
      else Array.from(x).forEach((at, i) => lines.push([name, at, y[i], "", Array.isArray(text) ? text[i] : text]));
    }
    return lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n";
  };
  const report = async (button) => {
    const box = button.closest(".report"), name = box.dataset.name, figures = [];
    const percent = inPercent[name];  // the numbers of a report are fractions
    if (percent) show(name, false);
    for (const plot of plotsOf(name)) {
      const title = plot.closest(".picture").querySelector(".take").dataset.title;
      // within the page, so that its colours are those of the theme
      const drawn = decodeURIComponent((await picture(plot, title, "svg", "rgba(0, 0, 0, 0)")).replace(/^[^,]*,/, ""));
      figures.push(`<figure class="card" role="img" aria-label="${title}">${drawn}</figure>`);
    }
    const threshold = document.querySelector(`#${name}-threshold .threshold`)?.cloneNode(true);
    threshold?.querySelectorAll("input[data-typed]").forEach((input) => input.replaceWith(input.value));
    threshold?.querySelectorAll("button.number").forEach((button) => button.replaceWith(...button.childNodes));
    threshold?.querySelectorAll("input[type=range], button, select, [hidden], .clicks").forEach((part) => part.remove());
    const small = [...document.querySelectorAll(`#${name}-strip .strip button`)];
    const strip = `<div class="tiles">${small.map((one) => `<div class="tile">${one.innerHTML}</div>`).join("")}</div>`;
    if (percent) show(name, true);
    const page = box.dataset.page.replace("<!--threshold-->", () => threshold?.innerHTML ?? "");
    save(page.replace("<!--strip-->", () => strip).replace("<!--figures-->", () => figures.join("\n")), `${name}_report.html`);
  };

  // of a figure the rates on hover, %{x:.3f}, and those in its legend, such as AUROC = 0.820
  const namedInFractions = new WeakMap();
  const showTraces = (plot, percent) => (plot.data ?? []).forEach((trace, k) => {
    const [from, to] = percent ? [":.3f}", ":.1%}"] : [":.1%}", ":.3f}"];
    const now = trace.name ?? "", before = namedInFractions.get(trace);
    const name = !percent ? (before ?? now) : now.replace(/= ([01]\.\d+)(?!\d| %)/g, (all, share) => `= ${percentage(+share)} %`);
    if (percent && name !== now) namedInFractions.set(trace, now);
    const moved = {};
    if (name !== now) moved.name = name;
    if (trace.hovertemplate) {
      const hover = trace.hovertemplate.replaceAll(from, to).replaceAll(now || "\n", name || "\n");
      if (hover !== trace.hovertemplate) moved.hovertemplate = hover;
    }
    if (Object.keys(moved).length) window.Plotly.restyle(plot, moved, [k]);
  });
  // whatever is drawn anew is shown as the page is
  const showRates = (name) => {
    for (const cell of document.querySelectorAll(`#${name}-results .rate[data-full]`)) asShown(cell, inPercent[name]);
    for (const box of document.querySelectorAll(`#${name}-results .threshold`)) speak(box);
    const [from, to] = inPercent[name] ? ["~g", "~%"] : ["~%", "~g"];
    document.querySelector(`#${name}-results`)?.classList.toggle("percent", inPercent[name]);
    for (const plot of plotsOf(name)) {
      showTraces(plot, inPercent[name]);
      const axes = ["xaxis", "yaxis"].filter((axis) => plot.layout?.[axis]?.tickformat === from);
      if (axes.length) window.Plotly.relayout(plot, Object.fromEntries(axes.map((axis) => [`${axis}.tickformat`, to])));
    }
  };
  const show = (name, percent) => {
    inPercent[name] = percent;
    showRates(name);
  };
  const digits = (button) => {
    for (const other of button.parentElement.children) other.setAttribute("aria-pressed", other === button);
    show(button.parentElement.dataset.name, button.dataset.digits === "percent");
  };
  const rows = (button) => {
    const text = (cell) => {  // with all digits, whatever is shown
      const whole = cell.cloneNode(true);
      for (const number of whole.querySelectorAll("[data-full]")) number.textContent = number.dataset.full;
      whole.querySelectorAll(".way").forEach((arrow) => arrow.remove());
      return whole.textContent.trim();
    };
    // the ends of an interval have columns of their own
    const ends = (cell) => [0, 1].map((i) => cell.querySelectorAll(".interval [data-full]")[i]?.dataset.full);
    const all = (side, row) => [...row.cells].flatMap((cell, i) => {
      if (!("interval" in (side.rows[0].cells[i]?.dataset ?? {}))) return [text(cell)];
      if (cell.tagName === "TH") return ["", "_low", "_high"].map((end) => text(cell) + end);
      return [cell.querySelector("[data-full]")?.dataset.full ?? text(cell), ...ends(cell)];
    });
    const lines = [...button.closest("details").querySelectorAll("table")].flatMap((side) => [
      ...(side.caption ? [[side.caption.innerText]] : []), ...[...side.rows].map((row) => all(side, row)),
    ]);
    save(lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n", `${button.dataset.file}.csv`);
  };
  const mark = (name, image) => {
    for (const button of document.querySelectorAll(`#${name}-results button.see`))
      button.setAttribute("aria-pressed", +button.dataset.image === image);
  };
  document.addEventListener("input", (event) => {
    const name = event.target.closest?.("[id$=-image]")?.id.replace("-image", "");
    if (name) mark(name, +event.target.value - 1);
  });
  const image = (button) => {
    const name = button.closest("[data-name]").dataset.name;
    const field = document.querySelector(`#${name}-image input[type=number]`);
    field.value = +button.dataset.image + 1;
    field.dispatchEvent(new Event("input", {bubbles: true}));
    field.dispatchEvent(new Event("blur"));
    document.querySelector(`#${name}-plot0`).scrollIntoView({block: "nearest"});
  };
  const take = async (button) => {
    const {plot: id, file, title, form} = button.closest(".take").dataset, kind = button.dataset.form;
    const plot = document.querySelector(`#${id} .js-plotly-plot`);
    if (!plot) return;
    save(kind === "csv" ? table(plot) : await picture(plot, title, kind), `${file}.${kind}`);
  };
  const preset = (button) => {
    const box = button.closest(".threshold");
    move(box, sweepOf(box).presets[button.dataset.preset]);
  };
  const whole = (button) => copying.copy(button, button.querySelector("[data-full]").dataset.full);
  const sentence = (button) => copying.copy(button, button.previousElementSibling.textContent);
  // gradio opens the list of a field that the Tab key leaves, and does not close it
  window.addEventListener("keydown", (event) => {
    if (event.key === "Tab" && event.target.matches?.("[role=combobox]")) event.stopPropagation();
  }, true);
  // gradio's editors scroll, and cannot be reached by keys
  const reach = () => document.querySelectorAll(".cm-scroller[tabindex='-1']").forEach((part) => part.tabIndex = 0);
  // gradio names a button by a key that it does not translate
  const name = () => document.querySelectorAll("[title='common.upload']").forEach((part) => {
    part.ariaLabel = part.title = "Upload other files";
  });
  // the options of a narrow page come after the results, for keys and screen readers too; see inputs.css
  const narrow = matchMedia("(max-width: 899px)");
  const arrange = () => {
    for (const choices of document.querySelectorAll(".choices")) {
      const halves = choices.closest(".halves");
      const home = narrow.matches ? halves : halves.querySelector(".inputs-column");
      if (choices.parentElement !== home) home.append(choices);
    }
  };
  narrow.addEventListener("change", arrange);
  // a table that was opened or closed by hand stays so when the numbers around it are drawn anew
  const open = {};
  const keyOf = (details) => `${details.closest("[id$=-results]")?.id} ${details.querySelector("summary")?.textContent}`;
  const keepOpen = (details) => {
    const kept = open[keyOf(details)] ?? details.open;
    if (details.open !== kept) details.open = kept;  // to set it as it is would come here again, for ever
  };
  let reaching = false;
  new MutationObserver((changes) => {
    for (const {target, addedNodes} of changes)
      for (const node of [target, ...addedNodes]) if (node.matches?.("details")) keepOpen(node);
    if (reaching) return;
    reaching = true;
    setTimeout(() => {
      reaching = false;
      reach();
      name();
      arrange();
      copying.arrange();
      openedAt();
      document.querySelectorAll(".threshold").forEach(align);
      listen();
      for (const name of Object.keys(inPercent)) if (inPercent[name]) showRates(name);
    }, 200);
  }).observe(document.documentElement, {childList: true, subtree: true, attributeFilter: ["open"]});

  const actions = {digits, image, list, take, preset, report, rows, whole, sentence};
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button[data-do]");
    if (button) actions[button.dataset.do](button);
    const details = event.target.closest?.("summary")?.parentElement;
    if (details?.matches("details")) open[keyOf(details)] = !details.open;
  });
})();
