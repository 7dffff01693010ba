// The recall cards remember which of them are known (chapters/extensions/flashcards). They open without this script, too.
(() => {
  const cards = [...document.querySelectorAll("details.fair-card")];
  if (!cards.length) return;
  const NAME = "fair-bandits-cards";
  let known;
  try {
    known = new Set(JSON.parse(localStorage.getItem(NAME) ?? "[]"));
  } catch { // a browser may keep nothing for a page from a disk
    known = new Set();
  }
  const said = document.createElement("output");
  const fold = document.createElement("button");
  fold.type = "button";
  fold.textContent = "Hide what I know";
  fold.setAttribute("aria-pressed", "false");
  const bar = document.createElement("p");
  bar.className = "fair-cards-bar";
  bar.append(said, " ", fold);
  const show = () => {
    const hide = fold.getAttribute("aria-pressed") === "true";
    for (const card of cards) {
      const is = known.has(card.dataset.card);
      card.classList.toggle("known", is);
      card.hidden = is && hide;
    }
    said.value = `${cards.filter((card) => known.has(card.dataset.card)).length} of ${cards.length} known`;
  };
  for (const card of cards) {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = known.has(card.dataset.card);
    box.addEventListener("change", () => {
      if (box.checked) known.add(card.dataset.card);
      else known.delete(card.dataset.card);
      try {
        localStorage.setItem(NAME, JSON.stringify([...known]));
      } catch { /* then it is known until the page is left */ }
      show();
    });
    label.append(box, " I know this");
    card.append(label);
  }
  fold.addEventListener("click", () => {
    fold.setAttribute("aria-pressed", String(fold.getAttribute("aria-pressed") === "false"));
    show();
  });
  document.querySelector("p.rubric").before(bar);
  show();
})();
