// Exercises say whether a number is right (chapters/extensions/answers.py). Without this script they ask for none. The fields
// come when the page is at rest: once a page has loaded, Chromium's autofill lays out each part of it that has a field.
addEventListener("load", () => (window.requestIdleCallback ?? setTimeout)(() => {
  const read = (text) => {
    let plain = text.replace(/\s/g, "").replace("−", "-");
    plain = /^-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(plain) ? plain.replaceAll(",", "") : plain.replace(",", ".");
    const part = plain.endsWith("%") ? 100 : 1;
    const [above, below = "1", ...more] = plain.replace(/%$/, "").split("/");
    return above && below && !more.length ? Number(above) / Number(below) / part : NaN;
  };
  for (const template of document.querySelectorAll("template.answers")) {
    const form = template.content.firstElementChild;
    template.replaceWith(form);
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const place of form.querySelectorAll("input")) {
      const said = place.closest("p").querySelector("output");
      place.addEventListener("input", () => { said.value = ""; });
      place.addEventListener("change", () => {
        const off = Math.abs(read(place.value) - place.dataset.answer);
        if (!place.value.trim()) said.value = "";
        else if (Number.isNaN(off)) said.value = "Write a number, such as 0.25, 1/4 or 25 %.";
        else said.value = off <= Number(place.dataset.within) + 1e-12 ? "✓ Right" : "Not yet";
      });
    }
  }
  document.dispatchEvent(new Event("answers"));
}));
