// A table that is filtered by its columns and by words (results.py). The state is in the address; without this script all
// rows are shown.
(() => {
  for (const form of document.querySelectorAll("form.filters")) {
    const table = form.parentElement.querySelector("table.filtered");
    const rows = [...table.tBodies[0].rows];
    const said = (row, column) => {
      const cell = row.cells[column].cloneNode(true);
      for (const part of cell.querySelectorAll("details, [aria-hidden]")) part.remove();
      return cell.textContent.trim();
    };
    const selects = [...form.querySelectorAll("select")];
    for (const select of selects) {
      for (const value of new Set(rows.map((row) => said(row, select.dataset.column)))) select.add(new Option(value));
    }
    const show = () => {
      const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) {
        row.hidden = selects.some((select) => select.value && said(row, select.dataset.column) !== select.value)
          || words.some((word) => !row.textContent.toLowerCase().includes(word));
      }
      form.querySelector("output").value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
    };
    const read = () => {
      const state = new URLSearchParams(location.hash.slice(1));
      for (const { name, localName } of form.elements) {
        if (localName !== "output" && state.has(name)) form.elements[name].value = state.get(name);
      }
      show();
    };
    form.addEventListener("input", () => {
      const state = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
      history.replaceState(null, "", state.size ? `#${state}` : location.pathname + location.search);
      show();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", read);
    form.hidden = false;
    read();
  }
})();
