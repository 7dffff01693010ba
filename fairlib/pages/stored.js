(() => {
  const root = document.currentScript.parentElement;
  const { texts, chunks, frames, alts } = JSON.parse(root.querySelector("script[type='application/json']").textContent);
  const picture = root.querySelector("img");
  const button = root.querySelector(".play"); // of the first slider; lists of names alone have none
  const status = root.querySelector("[role=status]");
  const sliders = [...root.querySelectorAll("[type=range], select")];
  const first = root.querySelector("[type=range]");
  const link = fairLink(root, (i, at) => texts[i][at]);
  let timer;

  const show = () => {
    let frame = 0;
    sliders.forEach((slider, i) => {
      if (slider.type === "range") {
        const text = texts[i][slider.value];
        slider.setAttribute("aria-valuetext", text);
        slider.closest(".slider").querySelector("output").value = text;
      }
      frame = frame * texts[i].length + Number(slider.value);
    });
    picture.src = "data:image/svg+xml," + encodeURIComponent(frames[frame].map((i) => chunks[i]).join(""));
    picture.alt = alts[frame];
  };
  const stop = () => {
    clearInterval(timer);
    if (button) button.textContent = "Play";
  };
  const step = () => {
    first.stepUp();
    show();
    if (first.value === first.max) stop();
  };
  const play = () => {
    if (first.value === first.max) {
      first.value = 0;
      show();
    }
    button.textContent = "Pause";
    status.textContent = ""; // what plays is not read out, what the reader moves is
    timer = setInterval(step, 200);
  };

  sliders.forEach((slider) => slider.addEventListener("input", () => {
    stop();
    show();
    status.textContent = picture.alt;
    link.moved();
  }));
  button?.addEventListener("click", () => (button.textContent === "Play" ? play() : stop()));
  root.querySelector(".controls").hidden = false;
  if (link.given) show();

  if (root.dataset.autoplay === "true" && !link.given && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
    const watch = new IntersectionObserver(([entry]) => {
      if (!entry.isIntersecting) return;
      watch.disconnect();
      if (button.textContent === "Play") play();
    }, { threshold: 0.5 });
    watch.observe(picture);
  }
})();
