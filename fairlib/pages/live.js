// Explorers that compute: a worker plays and fills what moves, and the page writes it into matplotlib's own picture.
(() => {
"use strict";
const LONGEST = 5000; // ms without any news from a worker

// In the worker, after the runtime and the script of the explorer.
const serve = () => {
  const columns = (rows, [first, long]) =>
    long ? rows.map((row) => row.subarray(first, first + long)) : Float64Array.from(rows, (row) => row[first]);
  const work = ({ id, shows, sliders, seed, plays, several, sums }) => {
    const block = { params: Float64Array.from(shows.params), state: new Float64Array(shows.length), sliders };
    if (plays) {
      const each = plays.map((game) => {
        $sessions[game.session]();
        const made = $play(game, seed, 0);
        if (made.fault) throw new Error(`the game stops in round ${Math.abs(made.fault)}`);
        const left = { selected: made.selected, reward: made.reward };
        for (const name in sums) left[name] = columns(made.sums, sums[name]);
        if (several) return left;
        const { selected, observed, total, ridge } = made.block; // as the policy would see it next
        return { ...left, t: game.rounds.at(-1) + 1, plays: selected, observed, total, ...ridge };
      });
      const [{ rounds, means = [] }] = plays;
      Object.assign(block, { recorded: Float64Array.from(rounds), means: Float64Array.from(means) });
      for (const name in each[0]) block[name] = several ? each.map((one) => one[name]) : each[0][name];
    }
    $shows(block);
    postMessage({ id, filled: block.state });
  };
  onmessage = ({ data }) => {
    try { work(data); } catch (error) { postMessage({ id: data.id, trouble: error.message }); }
  };
};

// Numbers in words, as Python's format writes them.
const fixed = (x, digits) => {
  const up = Math.abs(x).toFixed(digits), longer = Math.abs(x).toFixed(digits + 30);
  const down = longer.slice(0, digits ? -30 : -31), tie = /^50*$/.test(longer.slice(-30)); // goes to the even digit
  return (x < 0 ? "-" : "") + (tie && "02468".includes(down.at(-1)) ? down : up);
};
const short = (x, digits) => {
  if (x === 0) return "0";
  const power = Number(x.toExponential(digits - 1).split("e")[1]);
  const bare = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (power >= -4 && power < digits) return bare(fixed(x, digits - 1 - power));
  const [front, back] = x.toExponential(digits - 1).split("e");
  return `${bare(front)}e${back[0]}${back.slice(1).padStart(2, "0")}`;
};
const written = (x, spec) => {
  if (typeof x === "string") return x;
  if (spec.includes("|")) return spec.split("|")[Math.trunc(x)];
  if (!Number.isFinite(x)) return (Number.isNaN(x) ? "nan" : x > 0 ? "∞" : "-∞") + (spec.endsWith("%") ? "%" : "");
  const digits = Number(/\.(\d+)/.exec(spec)?.[1] ?? 6);
  if (spec.endsWith("%")) return `${fixed(100 * x, digits)}%`;
  if (!spec.endsWith("f")) return short(x, digits);
  const [whole, rest] = fixed(x, digits).split(".");
  return (spec[0] === "," ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole) + (rest === undefined ? "" : `.${rest}`);
};
const said = (text, values) =>
  text.replace(/\{(\w+)((?:\[\d+\])*)(?::([^{}]*))?\}/g, (_, name, places, spec) => {
    const value = (places.match(/\d+/g) ?? []).reduce((inside, place) => inside[place], values[name]);
    return written(value, spec ?? "");
  }).trim().replace(/\s+/g, " ");

// An end of a part: numbers, or the name of what is filled, of a place of it ("low[2]") or of all of it backwards ("low~").
const ends = (end, values) => {
  if (typeof end === "number") return [end];
  if (Array.isArray(end)) return end.flatMap((each) => ends(each, values));
  const [, name, places, turned] = /^(\w+)((?:\[-?\d+\])*)(~?)$/.exec(end);
  // One number is that of all segments and bars.
  const at = (inside, place) => (typeof inside === "number" ? inside : inside.at(Number(place)));
  const value = (places.match(/-?\d+/g) ?? []).reduce(at, values[name]);
  const all = typeof value === "number" ? [value] : [...value];
  return turned ? all.reverse() : all;
};
const places = ([a, b, c, d, logX, logY], xs, ys) =>
  Array.from({ length: Math.max(xs.length, ys.length) }, (_, i) => {
    const x = xs[i] ?? xs[0], y = ys[i] ?? ys[0]; // one number is that of all points
    return [a * (logX ? Math.log10(x) : x) + b, c * (logY ? Math.log10(y) : y) + d];
  });
const drawn = ([x, y]) => Number.isFinite(x) && Number.isFinite(y);
const move = (svg, part, values) => {
  const group = svg.querySelector(`#${part.id}`);
  const at = ([xs, ys]) => places(part.map, ends(xs, values), ends(ys, values));
  if (part.from) {
    const text = group.querySelector("text");
    if (part.text !== null) text.textContent = said(part.text, values);
    const [[x, y]] = at(part.to), [[x0, y0]] = at(part.from);
    part.start ??= [Number(text.getAttribute("x")) - x0, Number(text.getAttribute("y")) - y0];
    group.setAttribute("visibility", drawn([x, y]) ? "visible" : "hidden");
    text.removeAttribute("transform"); // it turns by nothing, about the old place
    text.setAttribute("x", x + part.start[0]);
    text.setAttribute("y", y + part.start[1]);
  }
  let paths = [...group.querySelectorAll(":scope > path")], up = 0;
  if (part.paths && !paths.length) {
    paths = [...group.querySelectorAll("defs path")]; // of a band without an edge, which lies below the picture
    up = Number(group.querySelector("use").getAttribute("y"));
  }
  part.paths?.forEach((each, i) => {
    let pen = "M", text = "";
    for (const [x, y] of at(each)) {
      if (drawn([x, y])) text += `${pen} ${+x.toFixed(6)} ${+(y - up).toFixed(6)} `;
      pen = drawn([x, y]) ? "L" : part.closed ? pen : "M"; // an area leaves a point out, a line breaks
    }
    paths[i].setAttribute("d", part.closed && text ? `${text}z` : text);
  });
  if (part.points) {
    const [one] = group.querySelectorAll("use");
    one.parentElement.replaceChildren(...at(part.points).map(([x, y]) => {
      const point = one.cloneNode();
      point.setAttribute("visibility", drawn([x, y]) ? "visible" : "hidden");
      if (drawn([x, y])) { point.setAttribute("x", x); point.setAttribute("y", y); }
      return point;
    }));
  }
};

const attach = (root) => {
  const data = JSON.parse(root.querySelector("script").textContent);
  const { alt, shows, parts, script, several, sums } = data;
  const picture = root.querySelector("img"), play = root.querySelector(".play");
  const luck = root.querySelector(".chance button"), lucky = root.querySelector(".chance output");
  const status = root.querySelector("[role=status]"), trouble = root.querySelector("[role=alert]");
  const sliders = [...root.querySelectorAll("[type=range], select")], inputs = [...root.querySelectorAll("[type=number]")];
  const svg = new DOMParser().parseFromString(decodeURIComponent(picture.src.split(",").slice(1).join(",")), "image/svg+xml").documentElement;
  let worker, watch, timer, ids = 0, under = null, next = null, loud = false, { seed } = data;
  let means = inputs.length ? data.plays[0].games[0].means : null;

  const value = ({ values, whole }, { value: at }) => { // between two of its values where a slider stands between them
    const low = Math.floor(at), rest = at - low;
    if (!rest) return values[low];
    const between = values[low] + rest * (values[low + 1] - values[low]);
    return whole ? Math.round(between) : Number(between.toPrecision(3));
  };
  const text = (i, at) => written(value(data.sliders[i], { value: at }), data.sliders[i].whole ? ",.0f" : "g");
  const setting = () => Object.fromEntries(data.sliders.map((slider, i) => [slider.name, value(slider, sliders[i])]));

  const played = ({ named, games }, now) => { // a policy's game at a setting
    const game = structuredClone(games[named.reduce((at, i) => at * data.sliders[i].values.length + Number(sliders[i].value), 0)]);
    for (const [i, slope, ...path] of game.moves) {
      const last = path.pop();
      path.reduce((inside, at) => inside[at], game)[last] += slope * now[data.sliders[i].name];
    }
    const end = now.rounds ?? data.rounds.at(-1);
    game.rounds = [...data.rounds.filter((t) => t < end), end];
    if (inputs.length) {
      game.means = means;
      const [column] = game.places.table.mean.flat();
      game.table.forEach((row, a) => { row[column] = means[a]; });
    }
    return game;
  };

  const rest = () => { clearTimeout(watch); root.removeAttribute("aria-busy"); };
  const stop = (why) => {
    const later = next, unseen = under?.quiet; // a setting that the reader has left, or has not asked for, is not reported
    worker?.terminate();
    worker = under = next = null;
    rest();
    if (later) send(later);
    else if (!unseen) trouble.textContent = `${why} The picture is not up to date.`;
  };
  const patience = () => {
    clearTimeout(watch);
    watch = setTimeout(() => stop("This takes too long, and was stopped."), LONGEST);
  };
  const told = ({ data: { id, filled, trouble: why } }) => {
    if (id !== under?.id) return;
    if (why) return stop(`This can't be computed: ${why}.`);
    const values = { ...under.setting };
    for (const [name, [first, rows, columns]] of Object.entries(shows.memory)) {
      const row = (i, long) => [...filled.subarray(first + i * long, first + (i + 1) * long)];
      values[name] = rows === undefined ? filled[first] : columns === undefined ? row(0, rows) : Array.from({ length: rows }, (_, i) => row(i, columns));
    }
    if (!under.quiet) {
      for (const part of parts) move(svg, part, values);
      picture.alt = said(alt, values);
      picture.src = "data:image/svg+xml," + encodeURIComponent(new XMLSerializer().serializeToString(svg));
      if (loud) status.textContent = picture.alt;
    }
    if (lucky) lucky.value = `seed ${seed}`;
    under = null;
    rest();
    if (next) send(next);
  };
  const send = (asked) => {
    next = null;
    under = asked;
    if (!asked.quiet) root.setAttribute("aria-busy", "true");
    try {
      if (!worker) {
        const source = [window.fairRuntime, script, `(${serve})();`].join("\n");
        worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
        worker.onmessage = told;
        worker.onerror = () => stop("This can't be computed here.");
      }
      worker.postMessage(asked.message);
      patience();
    } catch {
      stop("This can't be computed here.");
    }
  };
  const ask = (quiet = false) => {
    const now = setting(), id = ++ids, plays = data.plays?.map((play) => played(play, now));
    const numbers = data.sliders.map((slider, i) => (slider.named ? Number(sliders[i].value) : now[slider.name]));
    const message = { id, shows, sliders: Float64Array.from(numbers), seed, plays, several, sums };
    const asked = { id, quiet, message, setting: now };
    if (under && !under.quiet) next = asked; // sent once there is news of what is under way, so that each move shows something
    else send(asked);
  };
  const show = () => {
    data.sliders.forEach((slider, i) => {
      if (slider.named) return; // a list shows its choice by itself
      const reads = text(i, sliders[i].value);
      sliders[i].setAttribute("aria-valuetext", reads);
      sliders[i].closest(".slider").querySelector("output").value = reads;
    });
    trouble.textContent = "";
    ask();
  };

  const first = root.querySelector("[type=range]"); // has the button, which lists of names alone have not
  const pause = () => { clearInterval(timer); timer = undefined; if (play) play.textContent = "Play"; };
  const step = () => {
    first.value = Math.floor(Number(first.value)) + 1;
    show();
    if (first.value === first.max) pause();
  };
  play?.addEventListener("click", () => {
    if (timer) return pause();
    if (first.value === first.max) { first.value = 0; show(); }
    play.textContent = "Pause";
    status.textContent = ""; // what plays is not read out, what the reader moves is
    loud = false;
    timer = setInterval(step, 200);
  });
  const moved = () => { pause(); loud = true; show(); link.moved(); };
  sliders.forEach((slider, i) => {
    slider.addEventListener("input", moved);
    if (data.sliders[i].named) return;
    slider.step = 0.25;
    slider.addEventListener("keydown", (event) => { // from one of its values to the next
      const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!way) return;
      event.preventDefault();
      slider.value = way > 0 ? Math.floor(slider.value) + 1 : Math.ceil(slider.value) - 1;
      moved();
    });
  });
  luck?.addEventListener("click", () => { seed += 1; lucky.value = `seed ${seed}`; moved(); });
  inputs.forEach((input, a) => input.addEventListener("input", () => {
    const bad = inputs.filter((each) => !each.value.trim() || !each.validity.valid);
    inputs.forEach((each) => each.setAttribute("aria-invalid", bad.includes(each)));
    if (bad.length) { trouble.textContent = "A mean must be a number from 0 to 1."; return; }
    means = inputs.map((each) => Number(each.value));
    moved();
  }));

  const start = means;
  const link = fairLink(root, text, () => [...(luck ? [["seed", seed]] : []), ...(means === start ? [] : [["means", means.join()]])]);
  const other = link.asked.get("seed"), own = link.asked.get("means")?.split(",");
  if (luck && /^\d{1,15}$/.test(other)) {
    seed = Number(other);
    lucky.value = `seed ${seed}`;
  }
  if (own && own.length === inputs.length && own.every((each) => /^\d*\.?\d+(e-\d+)?$/.test(each) && Number(each) <= 1)) {
    means = own.map(Number);
    inputs.forEach((input, a) => { input.value = means[a]; });
    root.querySelector("details").open = true;
  }
  if (link.given) { // after the page has loaded, or its other scripts may keep the answer waiting until it seems too late
    root.setAttribute("aria-busy", "true");
    if (document.readyState === "complete") show();
    else addEventListener("load", () => setTimeout(show));
  }

  const near = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting) return;
    near.disconnect();
    if (!worker) ask(true); // so that the first move finds it warm
  });
  near.observe(picture);
  root.querySelector(".controls").hidden = false;
};

document.querySelectorAll(".fair-explorer[data-live]").forEach(attach);
})();
