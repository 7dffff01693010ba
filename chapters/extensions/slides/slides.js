// One slide at a time: arrow keys, space, Home and End, or the buttons. Without this script they stand one below the other.
(() => {
  let slides = [...document.querySelectorAll("section")];
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
  const asked = () => show((Number(location.hash.slice(1)) || 1) - 1, false);

  // How small the text of a slide may get that is too full, and of one that is shared; and a picture that shares one.
  const LEAST = 0.8, SHARED = 0.9, STEP = 0.05, PICTURE = 0.8;
  const content = (slide) => slide.querySelector(".content");
  const formulas = "mjx-container[display]";
  const within = (box) => box.scrollHeight <= box.clientHeight + 1 && box.scrollWidth <= box.clientWidth + 1;
  const narrow = (formula) => formula.scrollWidth <= formula.clientWidth + 1;
  const fits = (box) => within(box) && [...box.querySelectorAll(formulas)].every(narrow);
  const pictures = (slide) => [...slide.querySelectorAll("img")];
  const scale = (image) => Math.min(image.clientWidth / image.naturalWidth, image.clientHeight / image.naturalHeight);
  const shrinks = (slide, least) => {
    for (let size = 1; size > least - STEP / 2; size -= STEP) {
      slide.style.fontSize = size < 1 ? `${size}rem` : "";
      if (fits(content(slide))) return true;
    }
    slide.style.fontSize = "";
    return false;
  };

  // Put the content of a slide on the one before it, if they are of one section and there is room.
  const join = (slide, last) => {
    const box = content(last), own = content(slide);
    if (!box || slide.querySelector("h2").innerHTML !== last.querySelector("h2").innerHTML) return false;
    const seen = [...pictures(last), ...pictures(slide)];
    if (seen.length > 1) return false;
    const before = seen.map(scale), size = last.style.fontSize;
    const said = [...box.querySelectorAll("h3")].at(-1), first = own.querySelector("h3");
    const again = first && said && said.innerHTML === first.innerHTML;
    const parts = [...own.children].filter((part) => !(again && part === first));
    box.append(...parts);
    if (shrinks(last, SHARED) && seen.every((image, i) => scale(image) >= PICTURE * before[i])) {
      slide.remove();
      return true;
    }
    own.append(...parts);
    last.style.fontSize = size;
    return false;
  };

  // Where a slide can be divided: between the parts of the innermost box or list that holds most of it.
  const divisible = (box) => {
    const parts = [...box.children].filter((part) => !part.matches("h3, .title"));
    return parts.length === 1 && parts[0].matches(".box, ol, ul, li") ? divisible(parts[0]) : box;
  };

  // Let a slide's text get smaller until it fits; if it doesn't, move what is too much to a slide of its own.
  const squeeze = (slide) => {
    const box = content(slide);
    if (!box || fits(box) || shrinks(slide, LEAST)) return;
    const whole = divisible(box);
    const way = [];
    for (let part = whole; part !== box; part = part.parentElement) way.unshift(part);
    const rest = slide.cloneNode(true);
    let place = content(rest);
    for (const step of way) place = place.children[[...step.parentElement.children].indexOf(step)];
    const parts = () => [...whole.children].filter((part) => !part.matches("h3, .title"));
    const many = parts().length;
    while (parts().length > 1 && !fits(box)) parts().at(-1).remove();
    const left = parts().length;
    if (left === many) return; // one part that can't be divided
    [...place.children].filter((part) => !part.matches("h3, .title")).slice(0, left).forEach((part) => part.remove());
    if (place.matches("ol")) place.start = whole.start + left;
    rest.querySelectorAll(".title").forEach((title) => title.append(" (continued)"));
    slide.after(rest);
    squeeze(rest);
  };

  // What is alone on a slide, and little, gets larger: until it fills most of the room, or is half as large again.
  const MOST = 1.5;
  const filled = (box) => [...box.children].reduce((sum, part) => sum + part.offsetHeight, 0) / box.clientHeight;
  const grow = (slide) => {
    const box = content(slide);
    if (!box || slide.style.fontSize || pictures(slide).length) return;
    for (let size = MOST; size > 1 + STEP / 2; size -= STEP) {
      slide.style.fontSize = `${size}rem`;
      if (filled(box) <= 0.65 && fits(box)) {
        slide.style.fontSize = `${size - STEP}rem`; // a step is left, as sizes are rounded otherwise on another screen
        return;
      }
    }
    slide.style.fontSize = "";
  };

  const arrange = () => {
    if (innerWidth > 720) {
      let last = slides[0];
      for (const slide of slides.slice(1)) if (!join(slide, last)) last = slide;
      document.querySelectorAll("section").forEach(squeeze);
      slides = [...document.querySelectorAll("section")];
      slides.forEach(grow);
    }
    document.body.classList.add("ready");
    document.querySelector("footer").hidden = false;
    asked();
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
  addEventListener("hashchange", asked);
  document.body.classList.add("one");
  const drawn = [...document.images].map((image) => image.decode().catch(() => {}));
  Promise.all([document.fonts.ready, ...drawn]).then(arrange); // formulas have the size of their fonts
})();
