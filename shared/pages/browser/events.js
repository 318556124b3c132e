// What the browser alone does at an event of a page. The first argument is the metric, the others are values of parts.
window.openworldMetrics = (() => {
  const part = (name, kind) => document.querySelector(`#${name}-${kind}`);
  const setStale = (name, stale) => part(name, "results")?.classList.toggle("stale", stale);
  // inputs as text: of a file its path, of a table what it shows
  const plain = (key, value) => value?.path ?? (value?.headers ? [value.headers, value.data] : value);
  const inputsOf = {};  // by the stamp of a computation, what it was computed from
  let stamps = 0;
  const MAX_STAMPS = 100;  // of all pages together
  const isOld = (stamp, inputs) => inputsOf[stamp] !== JSON.stringify(inputs, plain);
  const looks = {};  // by metric, the number of looks at data that were begun and ended
  const proceed = (name) => {
    looks[name].ended += 1;
    part(name, "compute").disabled = looks[name].ended < looks[name].begun;
  };

  const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  const namesOf = (column) => (column ? [column].flat() : []);  // the arrays in the field of a column

  const choosing = new Set();  // metrics whose example was chosen in the present task

  return {
    looks,
    // only another example is loaded: what it throws ends the chain of events
    choose: (name, example, held) => {
      if (example === held || choosing.has(name)) throw new Error("nothing else was chosen");
      choosing.add(name);
      setTimeout(() => choosing.delete(name));
    },
    // an answer sets the fields one by one, and gradio reports each of them at once
    soon: (name) => new Promise((resolve) => setTimeout(resolve, 50)),
    // data are looked at again only if the columns differ from those of the last look, which may have set them
    others: (name, looked, ...columns) => {
      if (looked && isSame(JSON.parse(looked).made_of, columns.map(namesOf))) {
        throw new Error("no other columns were chosen");
      }
    },
    // a button proposes other arrays for a column; an answer that comes late leaves a field that was changed since
    adopt: (name, proposed, ...columns) => {
      const [place, asked, names] = proposed ? JSON.parse(proposed) : [];
      return columns.map((column, i) => (i === place && isSame(asked, namesOf(column)) ? names : column));
    },
    // data are looked at before they can be computed, since options follow of them
    begin: (name, ...values) => {
      looks[name] ??= {begun: 0, ended: 0};
      looks[name].begun += 1;
      part(name, "compute").disabled = true;
      return values;
    },
    proceed,
    // results are out of date if and only if they were computed from other inputs, whenever gradio tells of a change
    compare: (name, stamp, ...inputs) => setStale(name, isOld(stamp, inputs)),
    settled: (name, stamp, ...inputs) => {
      proceed(name);
      setStale(name, isOld(stamp, inputs));
    },
    // the values that are sent, the last of them a stamp, which comes back with what is computed from the first ones
    stamp: (name, inputs, sent, ...values) => {
      stamps += 1;
      inputsOf[stamps] = JSON.stringify(values.slice(0, inputs), plain);
      for (const old of Object.keys(inputsOf)) if (old <= stamps - MAX_STAMPS) delete inputsOf[old];
      return [...values.slice(0, sent - 1), String(stamps)];
    },
    empty: (name, ...files) => files.map(() => null),

    // on a narrow page the results are below the button; after an error those before stay, dimmed
    show: (name, query, stamp, ...inputs) => requestAnimationFrame(() => {
      const error = document.querySelector(`#${name}-told .error`);
      setStale(name, error !== null || isOld(stamp, inputs));
      const shown = error ?? document.querySelector(`#${name}-numbers table`);
      const place = shown?.getBoundingClientRect();
      if (place && (place.top < 0 || place.bottom > window.innerHeight)) shown.scrollIntoView({block: "nearest"});
      const kept = [...new URLSearchParams(location.search)].filter(([key]) => key.startsWith("__"));
      const more = new URLSearchParams(kept).toString();
      history.replaceState(null, "", location.pathname + query + (more && (query ? "&" : "?") + more));
    }),

    listed: (name) => part(name, "listed")?.querySelector("summary")?.scrollIntoView({block: "nearest"}),

    // a link says the threshold, if the slider was moved; it is the last value but one
    placed: (name, ...values) => {
      const typed = part(name, "threshold")?.querySelector("[data-typed]");
      const moved = typed && typed.value !== typed.defaultValue;
      values[values.length - 2] = moved ? `at=${encodeURIComponent(typed.value)}` : "";
      return values;
    },

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
