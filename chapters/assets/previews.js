// What a reference points to is shown beside it: under the pointer, on focus, on a phone at the first tap.
(() => {
  const article = document.querySelector("article");
  if (!article) return;
  const source = document.querySelector("meta[name=previews]")?.content;
  if (!source) return;
  const card = document.createElement("div");
  card.className = "preview";
  card.role = "tooltip";
  card.id = "preview";
  card.hidden = true;
  document.body.append(card);

  let loading, current, timer;
  const previews = () => (loading ??= new Promise((done) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = () => done(window.fairPreviews);
    script.onerror = () => done({});
    document.head.append(script);
  }));

  const hide = () => {
    clearTimeout(timer);
    current?.removeAttribute("aria-describedby");
    current = undefined;
    card.hidden = true;
  };
  const show = async (link) => {
    current = link;
    const found = (await previews())[link.getAttribute("href")];
    if (!found || current !== link) return false;
    card.innerHTML = found;
    card.hidden = false;
    const { left, top, bottom } = link.getBoundingClientRect();
    const above = bottom + card.offsetHeight > innerHeight && top > card.offsetHeight;
    card.style.left = `${scrollX + Math.max(8, Math.min(left, document.documentElement.clientWidth - card.offsetWidth - 8))}px`;
    card.style.top = `${scrollY + (above ? top - card.offsetHeight - 4 : bottom + 4)}px`;
    link.setAttribute("aria-describedby", "preview");
    return true;
  };
  const reference = (event) => event.target.closest?.("a.internal[href*='#'], a.reference[href^='#']");
  const leave = () => {
    clearTimeout(timer);
    timer = setTimeout(hide, 200);
  };

  article.addEventListener("pointerover", (event) => {
    const link = reference(event);
    if (!link || event.pointerType === "touch") return;
    clearTimeout(timer);
    timer = setTimeout(() => show(link), 250);
  });
  article.addEventListener("pointerout", (event) => reference(event) && leave());
  card.addEventListener("pointerenter", () => clearTimeout(timer));
  card.addEventListener("pointerleave", leave);
  article.addEventListener("focusin", (event) => {
    const link = reference(event);
    if (link?.matches(":focus-visible")) show(link);
  });
  article.addEventListener("focusout", (event) => reference(event) && (event.relatedTarget ? hide() : leave()));
  addEventListener("keydown", (event) => event.key === "Escape" && hide());
  let touched = false;
  article.addEventListener("pointerdown", (event) => { touched = event.pointerType === "touch"; });
  addEventListener("click", (event) => {
    const link = reference(event);
    if (!touched) return;
    if (!link) {
      if (!card.contains(event.target)) hide();
    } else if (current !== link) { // the second tap follows
      event.preventDefault();
      hide();
      show(link).then((shown) => shown || (location.href = link.href));
    }
  });
})();
