// A page has a hundred and more places to press. The Tab key stops once at those that belong together, and the arrow keys
// go on from there; without this script it stops at each.
document.addEventListener("DOMContentLoaded", () => {
  const across = { ArrowLeft: -1, ArrowRight: 1 };
  const down = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity }; // of lists: in the text they scroll
  const up = { ArrowUp: -1, ArrowDown: 1 }; // where one writes, the other keys move in the text
  const together = (items, keys, first = items[0]) => {
    if (items.length < 2) return;
    const stop = (at) => items.forEach((item) => { item.tabIndex = item === at ? 0 : -1; });
    items.forEach((item, i) => {
      item.dataset.together = keys === across ? "across" : "down";
      item.addEventListener("focus", () => stop(item));
      item.addEventListener("keydown", (event) => {
        const step = keys[event.key];
        if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        items[Math.max(0, Math.min(i + step, items.length - 1))].focus();
      });
    });
    stop(first);
  };
  const all = (selector, at = document) => [...at.querySelectorAll(selector)];

  for (const list of all("nav.bd-links, nav.page-toc")) together(all("a", list), down, list.querySelector("a.current") ?? undefined);
  for (const attack of all(".fair-attack")) together(all("button", attack), down);
  together(all(".solution > .admonition-title .toggle-button"), across);
  together(all(".paper > .admonition-title .toggle-button"), across);
  together(all(".bd-article details.code > summary"), across);
  document.addEventListener("answers", () => together(all(".fair-answers input"), up));
  together(all(".bd-article button.steps"), across);
  together(all(".prev-next-area a"), across);
  together(all(".bd-article .copybtn").filter((button) => !button.closest("details")), across); // in a fold it is alone

  // References, a paragraph or a table at a time. A place that was met before is no stop again, nor is the exercise above
  // its solution.
  const met = new Set();
  const paragraphs = new Map();
  for (const link of all(".bd-article a[href]:not(.headerlink)")) {
    const again = met.has(link.href) || link.closest(".solution > .admonition-title");
    if (!link.closest(".dropdown")) met.add(link.href); // in a fold nobody has met it yet
    const place = link.closest("table") ?? link.closest("p, li, dd, dt, figcaption");
    if (again) link.tabIndex = -1;
    if (place) paragraphs.set(place, [...(paragraphs.get(place) ?? []), link]);
  }
  for (const links of paragraphs.values()) {
    const first = links.find((link) => link.tabIndex === 0);
    if (first) together(links, across, first);
  }
});
