// The setting of an explorer in the address, as in shares.html?rounds=500&seed=5#promise-kept: after # which explorer, before
// it how its controls read. `text(i, at)` is how control i reads at a place; `more` returns what is set beside the controls.
window.fairLink ??= (root, text, more = () => []) => {
  const name = root.id, controls = [...root.querySelectorAll(".slider :is(input, select)")];
  const button = root.querySelector(".link"), status = root.querySelector("[role=status]");
  for (let i = 2; document.getElementById(root.id) !== root; i++) root.id = `${name}-${i}`; // a function may be shown twice
  const plain = (said) => said.replace(/(?<=\d),(?=\d{3})/g, ""); // 20,000 is 20000 in an address
  const address = (page) => {
    const said = controls.map((control, i) => [control.name, plain(text(i, control.value))]), url = new URL(page);
    url.search = new URLSearchParams([...said, ...more()]).toString().replaceAll("%2C", ",");
    url.hash = root.id;
    return url.href;
  };

  const given = location.hash === `#${root.id}` && location.search !== "";
  const asked = new URLSearchParams(given ? location.search : ""); // another explorer's setting is none of this one
  controls.forEach((control, i) => {
    const wanted = asked.get(control.name), last = control.max ?? control.length - 1, step = Number(control.step) || 1;
    if (wanted === null) return;
    const places = Array.from({ length: last / step + 1 }, (_, n) => n * step).sort((a, b) => (a % 1) - (b % 1));
    control.value = places.find((at) => plain(text(i, at)) === plain(wanted)) ?? control.value;
  });
  if (given && root.id !== name) root.scrollIntoView();

  button.addEventListener("click", async () => {
    const link = address(location.href);
    try {
      await navigator.clipboard.writeText(link);
      button.textContent = status.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy link"; }, 2000);
    } catch { // a page on a disk, or not of a secure address, may not copy
      let field = root.querySelector(".copied");
      if (!field) { // not before: once a page has loaded, Chromium's autofill lays out each part of it that has a field
        field = document.createElement("input");
        field.className = "copied";
        field.setAttribute("aria-label", "Link to this setting");
        field.readOnly = true;
        button.after(field);
      }
      field.value = link;
      field.select();
    }
  });
  addEventListener("beforeprint", () => {
    const published = document.querySelector("link[rel=canonical]")?.href; // or the address is the page's name
    root.querySelector(".address span").textContent = published ? address(published) : address(location.href).split("/").pop();
  });

  let waiting;
  const keep = () => { try { history.replaceState(history.state, "", address(location.href)); } catch { /* nor write there */ } };
  const moved = () => { // browsers allow so many changes of an address a minute
    clearTimeout(waiting);
    waiting = setTimeout(keep, 250);
  };
  return { given, asked, moved };
};
