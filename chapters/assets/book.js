// The pages are complete without this script.

// Each statement, exercise and erratum shows its address, as a heading does.
(() => {
  for (const place of document.querySelectorAll(".bd-article div.admonition[id], .bd-article p[id^='e-']")) {
    const title = place.querySelector(".admonition-title") ?? place;
    const link = document.createElement("a");
    link.className = "headerlink";
    link.href = `#${place.id}`;
    link.title = "Link to this place";
    link.textContent = "#";
    title.append(link);
  }
})();

// A proof with named steps can be read by their names alone.
(() => {
  const name = (part) => {
    const first = [...part.childNodes].find((node) => node.textContent.trim() !== "Proof.");
    return ["EM", "STRONG"].includes(first?.nodeName) ? first : null;
  };
  for (const proof of document.querySelectorAll('.bd-article div[class="proof admonition"]')) {
    const steps = [...proof.children].filter((part) => part.matches("p") && name(part));
    if (steps.length < 2) continue;
    for (const step of steps) {
      const rest = document.createElement("span");
      rest.className = "rest";
      while (name(step).nextSibling) rest.append(name(step).nextSibling);
      step.append(rest);
      step.classList.add("step");
    }
    const button = document.createElement("button");
    button.type = "button";
    button.className = "steps";
    button.textContent = "Steps only";
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      const only = button.getAttribute("aria-pressed") === "false";
      button.setAttribute("aria-pressed", String(only));
      proof.dataset.steps = only ? "names" : "all";
    });
    proof.prepend(button);
  }
})();

// The theme's sidebar holds the title and the search as well as the contents, so it is a region of its own.
(() => {
  const sidebar = document.getElementById("pst-primary-sidebar");
  sidebar?.setAttribute("role", "region");
  sidebar?.setAttribute("aria-label", "Site");
})();

// The button of a fold is named by what it opens (sphinx-togglebutton calls each "Toggle hidden content").
addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll(".bd-article .admonition-title > .toggle-button")) {
    const title = button.parentElement.cloneNode(true);
    for (const part of title.querySelectorAll("button, .headerlink")) part.remove();
    button.setAttribute("aria-label", title.textContent.trim().replace(/\s+/g, " "));
  }
});

// The contents mark the section that reaches to the top of the window. The theme looks only at headings that come into view,
// so after a jump, or within a long section, it would mark another.
(() => {
  const links = [...document.querySelectorAll("#pst-page-toc-nav a[href^='#']")];
  const parts = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  if (!links.length || parts.includes(null)) return;
  const mark = () => {
    const { scrollHeight } = document.documentElement, edge = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) + 8;
    let now = parts.findLastIndex((part) => part.getBoundingClientRect().top <= edge);
    if (scrollY > 0 && scrollY + innerHeight >= scrollHeight - 2) { // at the end of the page the last ones don't get to the top
      const asked = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      const named = asked ? parts.findLastIndex((part) => part.contains(asked)) : -1;
      now = named >= 0 && named >= now ? named : parts.length - 1;
    }
    links.forEach((link, i) => {
      link.classList.toggle("active", i === now);
      if (i === now) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    for (const entry of document.querySelectorAll("#pst-page-toc-nav .toc-entry")) entry.classList.toggle("active", now >= 0 && entry.contains(links[now]));
  };
  addEventListener("scroll", mark, { passive: true });
  new MutationObserver(mark).observe(links[0].closest("#pst-page-toc-nav"), { subtree: true, attributeFilter: ["class"] });
})();

// Words that were searched for are marked on the page that the search led to.
(() => {
  const asked = new URLSearchParams(location.search).get("found")?.match(/[\p{L}\p{N}]+(?:\.\p{N}+)*/gu);
  const article = document.querySelector(".bd-article");
  if (!asked || !article || !CSS.highlights) return;
  const word = new RegExp(`(?<![\\p{L}\\p{N}])(?:${asked.join("|").replaceAll(".", "\\.")})`, "giu");
  const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  const found = new Highlight();
  while (texts.nextNode()) {
    for (const { index, 0: { length } } of texts.currentNode.data.matchAll(word)) {
      found.add(new StaticRange({ startContainer: texts.currentNode, startOffset: index, endContainer: texts.currentNode, endOffset: index + length }));
    }
  }
  CSS.highlights.set("found", found);
})();

// What is wider than its line scrolls in a box of its own, which says on which side it goes on. The browser leaves what is
// far from the screen for later (book.css); such a part is measured when it comes near, or when the page is at rest.
(() => {
  const scrolling = "mjx-container, .cell_output pre, .cell_output > .output, div.highlight pre, .pst-scrollable-table-container";
  const later = ".bd-article > section > section, .bd-article dl.py:not(dl dl)";
  const formulas = "mjx-container:not([display])";
  const edge = (box) => {
    const rest = box.scrollWidth - box.clientWidth;
    box.classList.toggle("more-left", box.scrollLeft > 2);
    box.classList.toggle("more-right", box.scrollLeft < rest - 2);
  };
  const line = (box) => box.parentElement.closest("p, li, dd, td, th, div, figcaption, summary, h1, h2, h3");
  const fit = (boxes) => { // all is read before any of it is written: each change between two readings costs a layout
    const inline = boxes.filter((box) => box.matches(formulas)), printed = boxes.filter((box) => box.matches(".cell_output pre"));
    for (const box of inline) box.classList.remove("wide");
    for (const box of printed) box.style.fontSize = "";
    const wide = inline.filter((box) => box.getBoundingClientRect().width > (line(box)?.clientWidth ?? Infinity));
    const sizes = printed.map((box) => [box, box.clientWidth / box.scrollWidth, parseFloat(getComputedStyle(box).fontSize)]);
    for (const box of wide) box.classList.add("wide");
    for (const [box, fits, size] of sizes) { // a table that was printed, on a line as long as Python's may be
      if (fits > .8 && fits < 1) box.style.fontSize = `${size * fits * .99}px`;
    }
    const scrolls = boxes.map((box) => box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX === "auto");
    boxes.forEach((box, i) => {
      if (scrolls[i]) {
        if (!box.dataset.scrolls) box.addEventListener("scroll", () => edge(box), { passive: true });
        box.dataset.scrolls = "yes";
        box.tabIndex = 0; // what scrolls is to be reached by the keyboard
        edge(box);
      } else if (box.dataset.scrolls || box.hasAttribute("tabindex")) {
        box.classList.remove("more-left", "more-right");
        box.removeAttribute("tabindex");
      }
    });
  };
  const within = (part) => [...part.querySelectorAll(`:is(${scrolling})`)];
  const skipped = (part) => part.firstElementChild?.checkVisibility?.({ contentVisibilityAuto: true }) === false;
  const near = () => {
    const away = new Set([...document.querySelectorAll(later)].filter(skipped));
    const inside = (box) => { for (let part = box.closest(later); part; part = part.parentElement.closest(later)) if (away.has(part)) return true; };
    fit([...document.querySelectorAll(".bd-article")].flatMap(within).filter((box) => !inside(box)));
  };
  const rest = () => { // one section at a time, so that the browser answers in between
    const part = [...document.querySelectorAll(later)].find(skipped);
    if (!part) return;
    const section = part.closest(".bd-article > section > section") ?? part;
    for (const each of [section, ...section.querySelectorAll(later)]) each.classList.add("near");
    fit(within(section));
    requestIdleCallback(rest);
  };
  document.fonts.ready.then(near);
  // A second later: to lay out a long section takes a slow phone about a second, in which it can't answer a reader.
  addEventListener("load", () => setTimeout(() => window.requestIdleCallback?.(rest), 1000));
  document.addEventListener("contentvisibilityautostatechange", (event) => event.skipped || fit(within(event.target)));
  document.addEventListener("toggle", ({ target }) => fit(within(target)), true); // what is folded away has no width
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    near();
  });
})();

// A formula under an explorer is filled with what its sliders say, \class{fill-1}{...} with the first one's value, and so
// is the text of it that is read out.
(() => {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const explorers = [...document.querySelectorAll(".bd-article .fair-explorer:not(.fair-guess, .fair-attack)")];
  const glyph = (character) => {
    const made = document.createElement("mjx-c");
    made.className = `mjx-c${character.codePointAt(0).toString(16).toUpperCase()}`;
    return made;
  };
  for (const place of document.querySelectorAll(".bd-article mjx-container [class*='fill-']")) {
    const above = explorers.findLast((each) => each.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING);
    const said = above.querySelectorAll(".slider")[place.className.match(/fill-(\d)/)[1] - 1].querySelector("output");
    const fill = () => {
      if (place.localName === "mn") place.textContent = said.value;
      else place.replaceChildren(...[...said.value].map(glyph));
    };
    fill();
    new MutationObserver(() => {
      fill();
      if (!calm.matches) place.animate({ background: ["color-mix(in srgb, var(--fair-rule) 40%, transparent)", "transparent"] }, 1000);
    }).observe(said, { childList: true });
  }
})();
