// One slide at a time: arrow keys, space, Home and End, or the buttons. Without this script they stand one below the other.
(() => {
  const slides = [...document.querySelectorAll("section")];
  const [back, on] = document.querySelectorAll("footer button");
  const said = document.querySelector("footer output");
  let now = 0;
  const show = (i, move = true) => {
    now = Math.max(0, Math.min(slides.length - 1, i));
    slides.forEach((slide, j) => slide.classList.toggle("now", j === now));
    said.value = `${now + 1} / ${slides.length}`;
    back.disabled = now === 0;
    on.disabled = now === slides.length - 1;
    scrollTo(0, 0);
    if (move) history.replaceState(null, "", `#${now + 1}`);
  };
  const steps = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1, " ": 1 };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target.closest("button, a")) return; // which it presses
    if (event.key in steps) show(now + (event.shiftKey ? -1 : 1) * steps[event.key]);
    else if (event.key === "Home") show(0);
    else if (event.key === "End") show(slides.length - 1);
    else return;
    event.preventDefault();
  });
  back.addEventListener("click", () => show(now - 1));
  on.addEventListener("click", () => show(now + 1));
  addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1, false));
  document.body.classList.add("one");
  document.querySelector("footer").hidden = false;
  show((Number(location.hash.slice(1)) || 1) - 1, false);
})();
