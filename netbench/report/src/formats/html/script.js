"use strict";
(() => {
  const root = document.documentElement;

  // The theme: the system's, or what was chosen last.
  const themes = ["system", "light", "dark"];
  const button = document.getElementById("theme");
  const keep = (theme) => {
    // Files may have no storage.
    try { localStorage.setItem("netbench-theme", theme); } catch (_) { return; }
  };
  const kept = () => {
    try { return localStorage.getItem("netbench-theme"); } catch (_) { return null; }
  };
  const show = (theme) => {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
    button.textContent = "Theme: " + theme;
  };
  let theme = themes.includes(kept()) ? kept() : "system";
  show(theme);
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    keep(theme);
    show(theme);
  });

  const key = (cell) => {
    const text = cell.dataset.v ?? cell.dataset.s;
    return text === undefined ? null : Number(text);
  };
  const collator = new Intl.Collator("en", { numeric: true });
  // Figures before words, and what is missing last, whichever way.
  const compare = (a, b, way) => {
    const x = key(a), y = key(b);
    if (x !== null && y !== null) return way * (x - y);
    if (x !== null) return -1;
    if (y !== null) return 1;
    return way * collator.compare(a.textContent, b.textContent);
  };
  const sortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const sort = document.createElement("button");
      sort.type = "button";
      sort.textContent = head.textContent;
      head.replaceChildren(sort);
      sort.addEventListener("click", () => {
        const way = head.ariaSort === "ascending" ? -1 : 1;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", way === 1 ? "ascending" : "descending");
        const body = table.tBodies[0];
        const rows = [...body.rows];
        rows.sort((a, b) => compare(a.cells[column], b.cells[column], way));
        body.append(...rows);
      });
    });
  };

  // RFC 4180; a text that a spreadsheet would take for a formula begins with an apostrophe.
  const field = (cell) => {
    if (cell.dataset.v !== undefined) return cell.dataset.v;
    let text = cell.textContent;
    if (/^[=+@-]/.test(text) && cell.dataset.s === undefined) text = "'" + text;
    return /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  const title = (head) => {
    const unit = head.dataset.unit;
    const text = head.textContent + (unit ? " [" + unit + "]" : "");
    return /[",]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  const csv = (table) => {
    const lines = [[...table.tHead.rows[0].cells].map(title).join(",")];
    for (const row of table.tBodies[0].rows) {
      if (!row.hidden) lines.push([...row.cells].map(field).join(","));
    }
    return lines.join("\n") + "\n";
  };

  // On a phone a table that is too wide shows each row as a list of names and values.
  const phone = matchMedia("(max-width: 640px)");
  const fit = (details) => {
    if (!details.open) return;
    const table = details.querySelector("table");
    table.classList.remove("stack");
    const room = details.querySelector(".scroll").clientWidth;
    if (phone.matches && table.scrollWidth > room) table.classList.add("stack");
  };
  const tables = [...document.querySelectorAll("details.table")];
  phone.addEventListener("change", () => tables.forEach(fit));

  for (const details of tables) {
    const table = details.querySelector("table");
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      table.style.setProperty("--c" + (column + 1), JSON.stringify(head.textContent));
    });
    sortable(table);
    details.addEventListener("toggle", () => fit(details));
    const tools = document.createElement("div");
    tools.className = "tools";
    const rows = table.tBodies[0].rows;
    if (rows.length > 5) {
      const filter = document.createElement("input");
      filter.type = "search";
      filter.placeholder = "Filter rows";
      filter.setAttribute("aria-label", "Filter rows of " + table.dataset.name);
      const count = document.createElement("span");
      count.setAttribute("role", "status");
      filter.addEventListener("input", () => {
        const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
        let shown = 0;
        for (const row of rows) {
          const text = row.textContent.toLowerCase();
          row.hidden = !words.every((word) => text.includes(word));
          if (!row.hidden) shown += 1;
        }
        count.textContent = words.length ? shown + " of " + rows.length : "";
      });
      tools.append(filter, count);
    }
    const link = document.createElement("a");
    link.textContent = "CSV of these rows";
    link.href = "data:text/csv,";
    link.download = (table.dataset.name || "table").replace(/[^A-Za-z0-9]+/g, "-") + ".csv";
    link.addEventListener("click", () => {
      link.href = "data:text/csv;charset=utf-8," + encodeURIComponent(csv(table));
    });
    tools.append(link);
    details.querySelector(".scroll").before(tools);
    fit(details);
  }

  // What a link leads to is unfolded.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folded = target && target.querySelector(":scope > details.folded");
    if (folded) folded.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();

  // What is folded is printed too.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open]):not(.rest)")];
    opened.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((details) => { details.open = false; }));
})();
