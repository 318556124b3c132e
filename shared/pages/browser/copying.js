// Numbers that are copied with all their digits by a press, and the arrow keys that move between those of a table.
window.openworldCopying = (() => {
  let status, timer;
  const say = (text) => {
    if (!status) {
      status = document.createElement("div");
      status.className = "copied-said";
      status.setAttribute("role", "status");
      document.body.append(status);
    }
    status.textContent = text;
    clearTimeout(timer);
    timer = setTimeout(() => { status.textContent = ""; }, 2500);
  };
  const copy = async (button, text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {  // without https, or where it is not allowed
      say(`Not copied, the browser does not allow it: ${text}`);
      return;
    }
    say(`Copied ${text}`);
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 1200);
  };

  // a table is one stop of the Tab key; arrows move within it
  const numbersOf = (part) => [...part.querySelectorAll("button.number")];
  const arrange = () => {
    for (const table of document.querySelectorAll(".wide table.results")) {
      const numbers = numbersOf(table), current = numbers.find((number) => number.dataset.current) ?? numbers[0];
      for (const number of numbers) number.tabIndex = number === current ? 0 : -1;
    }
  };
  const beside = (button, key) => {
    const table = button.closest("table"), all = numbersOf(table), place = all.indexOf(button);
    if (key === "ArrowRight" || key === "ArrowLeft") return all[place + (key === "ArrowRight" ? 1 : -1)];
    const cell = button.closest("td"), rows = [...table.rows], step = key === "ArrowDown" ? 1 : -1;
    for (let i = rows.indexOf(cell.parentElement) + step; rows[i]; i += step) {
      const [number] = numbersOf(rows[i].cells[cell.cellIndex] ?? rows[i]);
      if (number) return number;
    }
    return undefined;
  };
  document.addEventListener("keydown", (event) => {
    const button = event.target.closest?.(".wide button.number");
    if (!button || !event.key.startsWith("Arrow")) return;
    const next = beside(button, event.key);
    event.preventDefault();
    if (!next) return;
    for (const number of numbersOf(button.closest("table"))) delete number.dataset.current;
    next.dataset.current = "yes";
    arrange();
    next.focus();
  });
  return {copy, arrange};
})();
