// What the browser alone does at an event of a page. The first argument is the metric, the others are values of parts.
window.openworldMetrics = (() => {
  const part = (name, kind) => document.querySelector(`#${name}-${kind}`);
  const setStale = (name, stale) => part(name, "results")?.classList.toggle("stale", stale);
  const changes = {}, begun = {};  // how often a person has changed anything, and when computing began
  const isOld = (name) => changes[name] !== begun[name];
  const change = (name) => { changes[name] = (changes[name] ?? 0) + 1; };
  document.addEventListener("input", (event) => {  // of what is typed gradio tells later
    const button = event.target.closest?.(".inputs-column")?.querySelector("[id$='-compute']");
    if (button) change(button.id.replace(/-compute$/, ""));
  }, true);

  return {
    // data are looked at before they can be computed, since options follow of them
    wait: (name) => {
      change(name);
      part(name, "compute").disabled = true;
    },
    proceed: (name) => { part(name, "compute").disabled = false; },
    stale: (name) => {
      part(name, "compute").disabled = false;
      setStale(name, true);
    },
    changed: (name) => {
      change(name);
      setStale(name, true);
    },
    begin: (name) => { begun[name] = changes[name]; },
    fresh: (name) => {
      part(name, "compute").disabled = false;
      setStale(name, isOld(name));
    },
    empty: (name, ...files) => files.map(() => null),

    // on a narrow page the results are below the button; after an error those before stay, dimmed
    show: (name, query) => requestAnimationFrame(() => {
      const error = document.querySelector(`#${name}-told .error`);
      setStale(name, error !== null || isOld(name));
      const shown = error ?? document.querySelector(`#${name}-numbers table`);
      const place = shown?.getBoundingClientRect();
      if (place && (place.top < 0 || place.bottom > window.innerHeight)) shown.scrollIntoView({block: "nearest"});
      const kept = [...new URLSearchParams(location.search)].filter(([key]) => key.startsWith("__"));
      const more = new URLSearchParams(kept).toString();
      history.replaceState(null, "", query + (more && "&" + more));
    }),

    copy: (name, query) => {
      navigator.clipboard.writeText(location.origin + location.pathname + query);
      return "Link copied";
    },

    // the file is made in the browser: nothing is written on the server
    download: (name, text) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], {type: "application/json"}));
      link.download = `${name}.json`;
      link.click();
      URL.revokeObjectURL(link.href);
    },
  };
})();
