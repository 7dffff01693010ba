// The playground: arms that are dragged, policies that race on them in workers, and a link that says it all.
// `fairGames` and `fairRuntime` are made from the package when the book is built; `fairRule` is in own-rule.js, `fairResults` in results.js.
addEventListener("DOMContentLoaded", () => {
  const root = document.querySelector("[data-playground]");
  if (!root || !window.fairGames || !window.fairRuntime) return;
  const { start, spread, short, policies, own } = fairGames, { average, error, short3, ticks, copy } = fairResults;
  const LARGEST = { T: 100000, runs: 20, delay: 500, steepness: 10 };
  const NOTIONS = {
    regret: ["Regret", "reward lost against the best arm"],
    deficit: ["Worst deficit", "most plays by which an arm was behind its promise"],
    r_regret: ["r-regret", "reward lost against the best policy that keeps the promises"],
    fairness_regret: ["Fairness regret", "distance to the fair policy, summed"],
    signed_regret: ["Reward regret, signed", "reward lost against the fair policy; below 0 if an unfair one earns more"],
    reward_regret: ["Reward regret", "the same, rounds in which it is positive alone"],
    ranks: ["Regret of ranks", "best rank less rank of the candidate chosen"],
  };
  policies.own = { ...policies.ucb1, name: "your rule", says: "is written below", look: own };
  const listed = Object.keys(policies);

  // The state, and the link that says it.
  const fresh = () => structuredClone(start);
  const mostPlays = (arms) => Math.min(arms - 1, 5);
  const steepest = ({ means, plays }) => (plays > 1 ? Math.floor(10 * Math.log((means.length - 1) / (plays - 1))) / 10 : LARGEST.steepness);
  const canPlay = (id) => state.plays === 1 || "plays" in policies[id].numbers[0].places.params;
  const below = (arms) => Math.ceil(100 / arms - 1) / 100; // the largest promise in hundredths below 1 / K
  function written(state) {
    const parts = {
      means: state.means.join(), shares: state.shares.join(), T: state.T, runs: state.runs, seed: state.seed, steepness: state.steepness,
      plays: state.plays, delay: state.delay, policies: state.policies.join(), show: state.show,
    };
    const link = Object.entries(parts).map(([name, value]) => `${name}=${value}`).join("&");
    return state.rule === start.rule ? link : `${link}&rule=${encodeURIComponent(state.rule)}`;
  }
  function read(link) {
    const state = fresh(), wrong = [], given = new URLSearchParams(link.replaceAll("+", "%2B"));
    const refuse = (name, allowed) => wrong.push(`In the link, ${name} must be ${allowed}, not “${given.get(name)}”.`);
    const decimal = (text) => (/^\s*-?(\d+\.?\d*|\.\d+)(e-\d+)?\s*$/.test(text) ? Number(text) : NaN); // no 0x10, no 1e3
    const list = (name) => given.get(name).split(",").map(decimal);
    const whole = (name, low, high) => {
      if (!given.has(name)) return;
      const value = decimal(given.get(name));
      if (Number.isInteger(value) && value >= low && value <= high) state[name] = value;
      else refuse(name, `a whole number from ${low} to ${high}`);
    };
    for (const name of given.keys()) if (!Object.hasOwn(start, name)) wrong.push(`The link has “${name}”, which the playground does not know.`);
    if (given.has("means")) {
      const means = list("means");
      if (means.length >= 2 && means.length <= 10 && means.every((x) => x >= 0 && x <= 1)) {
        state.means = means;
        state.shares = means.map(() => Math.min(start.shares[0], below(means.length)));
      } else refuse("means", "2 to 10 numbers from 0 to 1");
    }
    const arms = state.means.length;
    if (given.has("shares")) {
      const shares = list("shares");
      if (shares.length === arms && shares.every((x) => x >= 0 && x < 1 / arms)) state.shares = shares;
      else refuse("shares", `${arms} numbers, one an arm, from 0 to below 1/${arms}`);
    }
    whole("T", 10, LARGEST.T);
    whole("runs", 1, LARGEST.runs);
    whole("seed", 0, Number.MAX_SAFE_INTEGER);
    whole("plays", 1, mostPlays(arms));
    whole("delay", 0, LARGEST.delay);
    if (given.has("steepness")) {
      const value = decimal(given.get("steepness"));
      if (value >= 0.1 && value <= steepest(state)) state.steepness = value;
      else refuse("steepness", `a number from 0.1 to ${steepest(state)}${state.plays > 1 ? ` with ${state.plays} plays a round` : ""}`);
    }
    state.steepness = Math.min(state.steepness, steepest(state));
    if (given.has("policies")) {
      const asked = given.get("policies").split(",").filter(Boolean), strange = asked.filter((id) => !Object.hasOwn(policies, id));
      state.policies = listed.filter((id) => asked.includes(id));
      if (strange.length) wrong.push(`The link has the policy “${strange[0]}”; there are ${listed.join(", ")}.`);
    }
    if (given.has("show")) Object.hasOwn(NOTIONS, given.get("show")) ? (state.show = given.get("show")) : refuse("show", Object.keys(NOTIONS).join(", "));
    if (given.has("rule")) state.rule = given.get("rule");
    return { state, wrong };
  }
  const asked = () => (location.hash.includes("=") ? location.hash.slice(1) : "");
  let { state, wrong } = read(asked());
  let keeping;
  const keep = () => { // browsers allow so many changes of an address a minute, and none needs to be a page of its own
    clearTimeout(keeping);
    keeping = setTimeout(() => history.replaceState(null, "", `#${written(state)}`), 250);
  };

  // The page.
  root.innerHTML = `
    <p class="wrong" role="alert"></p>
    <fieldset class="arms"><legend>Arms: drag a mean, and write below it what the arm is promised</legend><div class="columns"></div>
      <div class="line"><button type="button" data-do="more">One arm more</button><button type="button" data-do="fewer">One arm fewer</button></div></fieldset>
    <div class="settings">
      <label>Rounds of a run (T) <input type="number" data-set="T" min="10" max="${LARGEST.T}"></label>
      <label>Seed <input type="number" data-set="seed" min="0" max="${Number.MAX_SAFE_INTEGER}"></label>
      <label>Runs <output></output><input type="range" data-set="runs" min="1" max="${LARGEST.runs}"></label>
      <label>Steepness of merit <output></output><input type="range" data-set="steepness" min="0.1" step="0.1"></label>
      <label>Plays a round <output></output><input type="range" data-set="plays" min="1"></label>
      <label>Mean delay in rounds <output></output><input type="range" data-set="delay" min="0" max="${LARGEST.delay}"></label>
    </div>
    <fieldset class="contestants"><legend>Who plays</legend></fieldset>
    <details class="own"><summary>A rule of your own</summary>
      <label>Your rule, in Python<textarea rows="12" spellcheck="false" autocapitalize="off" autocomplete="off"></textarea></label>
      <div class="line"><button type="button" data-do="own">Let it play</button><span class="read" role="status"></span></div></details>
    <p class="fault wrong" role="alert"></p>
    <div class="line"><button type="button" data-do="link">Copy link</button><button type="button" data-do="again">Start again</button>
      <span class="going"></span><span class="said" role="status"></span></div>
    <p class="title">Share of rounds in which each arm was played, %</p>
    <p><span class="key"></span> promised <span class="key fair"></span> fair by merit</p>
    <div class="strips"></div>
    <label class="curve-of">Curve of <select></select></label>
    <div class="curve"></div>
    <div class="scroll listed"><table></table></div>
    <p class="ranks"></p>`;
  const find = (selector) => root.querySelector(selector), all = (selector) => [...root.querySelectorAll(selector)];
  const dash = ({ look }) => `<svg class="dash" viewBox="0 0 48 12" aria-hidden="true">
    <line x1="0" x2="48" y1="6" y2="6" stroke-width="3" stroke="${look.stroke}" stroke-dasharray="${look.dash}"/></svg>`;
  find(".contestants").innerHTML += listed.map((id) => `<label><input type="checkbox" value="${id}">${dash(policies[id])}<span>${policies[id].name}
    <small>${policies[id].says}</small></span></label>`).join("");
  find("select").innerHTML = Object.entries(NOTIONS).map(([name, [title, says]]) => `<option value="${name}">${title}: ${says}</option>`).join("");

  // What the reader sets, shown.
  function drawArms() {
    const { means, shares } = state, most = below(means.length);
    if (all(".arm").length !== means.length) {
      find(".columns").innerHTML = means.map((_, a) => `<div class="arm"><span></span>
        <div class="mean" role="slider" tabindex="0" aria-orientation="vertical" aria-label="Mean of arm ${a + 1}"
          aria-valuemin="0" aria-valuemax="1" data-arm="${a}"><i></i></div><span aria-hidden="true">${a + 1}</span>
        <input type="number" min="0" step="0.01" aria-label="Promised share of arm ${a + 1}" data-arm="${a}"></div>`).join("");
    }
    all(".arm").forEach((arm, a) => {
      const [said] = arm.children, slider = arm.querySelector(".mean"), promise = arm.querySelector("input");
      said.textContent = String(+means[a].toFixed(3));
      slider.setAttribute("aria-valuenow", means[a]);
      slider.setAttribute("aria-valuetext", `${+means[a].toFixed(3)}`);
      slider.firstElementChild.style.height = `${100 * means[a]}%`;
      promise.max = most;
      promise.removeAttribute("aria-invalid");
      if (promise !== document.activeElement || Number(promise.value) !== shares[a]) promise.value = shares[a];
    });
  }
  function drawSettings() {
    const { means, plays } = state;
    find("[data-set=plays]").max = mostPlays(means.length);
    find("[data-set=steepness]").max = steepest(state);
    find("[data-set=steepness]").step = Number.isInteger(+(10 * state.steepness).toFixed(9)) ? 0.1 : "any"; // a link may have any
    for (const input of all("[data-set]")) {
      const value = state[input.dataset.set], shown = input.parentElement.querySelector("output");
      if (input !== document.activeElement || Number(input.value) !== value) input.value = value;
      if (shown) shown.textContent = input.dataset.set === "delay" && !value ? "none" : String(+value.toFixed(2));
      if (shown) input.setAttribute("aria-valuetext", shown.textContent);
    }
    for (const box of all(".contestants input")) {
      box.checked = state.policies.includes(box.value);
      box.disabled = !canPlay(box.value);
      box.closest("label").querySelector("small").textContent = box.disabled
        ? `plays one arm a round, and sits out while there are ${plays}` : policies[box.value].says;
    }
    find("[data-do=more]").disabled = means.length === 10;
    find("[data-do=fewer]").disabled = means.length === 2;
    find("select").value = state.show;
    if (find("textarea").value !== state.rule) find("textarea").value = state.rule;
  }
  const complain = (sentences) => { find(".wrong").textContent = sentences.join(" "); };
  function drawAll() { drawArms(); drawSettings(); drawResults(); }

  // The race: each policy's runs in a worker of its own, some at a time; a new race ends the one before.
  const results = new Map(); // by policy: its game, and what was recorded of each run
  root.results = results;
  let running = new Set(), queue = [], addresses = {}, translated = null, ended = 0, wanted = 0; // translated: the reader's rule, once it is read

  const put = (numbers, places, values) => {
    for (const [name, value] of Object.entries(values)) {
      for (const [from, to] of places[name] ?? []) for (let i = from; i < to; i++) numbers[i] = value[i - from] ?? value;
    }
  };
  function gameOf(id) {
    const { means, shares, plays, steepness, delay, T } = state, arms = means.length, last = id === "fair-greedy" ? Math.min(T, short) : T;
    const game = structuredClone(policies[id].numbers[arms - 2]), { places } = game;
    const best = [...means].sort((x, y) => y - x).slice(0, plays).reduce((x, y) => x + y, 0);
    game.rounds = [...new Set(Array.from({ length: 60 }, (_, i) => Math.max(1, Math.round((last * (i + 1)) / 60))))];
    if (id === "fair-greedy") { // a group's candidates are worth its mean give or take what its weight says
      put(game.table, places.table, { biases: means.map((x) => x - spread / 2) });
      const [[from]] = places.metricParams.table;
      means.forEach((x, a) => { for (const i of [2, 3]) game.metricParams[from + game.metricParams[from + 1 + a] + i] = x + spread * (i - 2.5); });
      return game;
    }
    const values = { means, best, shares, plays, base: Math.log(4 * plays * arms), "merit.steepness": steepness };
    put(game.params, places.params, values);
    put(game.metricParams, places.metricParams, values);
    game.table = means.map((x) => [x]);
    game.waits = means.map(() => [-1 / Math.log1p(-1 / Math.max(delay, 1))]);
    Object.assign(game, { late: delay > 0, plays });
    if (id === "own") Object.assign(game, translated.numbers(arms));
    return game;
  }
  function stop() {
    for (const end of running) end();
    running.clear();
  }
  function race() {
    stop();
    for (const id of [...results.keys()]) if (!state.policies.includes(id) || !canPlay(id)) results.delete(id);
    queue = listed.filter((id) => state.policies.includes(id) && canPlay(id) && (id !== "own" || translated));
    [ended, wanted] = [0, queue.length * state.runs];
    root.setAttribute("aria-busy", "true");
    find(".said").textContent = "";
    if (translated) find(".fault").textContent = "";
    for (let i = 0; i < fairRule.lanes; i++) next();
    drawSoon();
  }
  function next() {
    const id = queue.shift();
    if (!id) {
      if (!running.size) root.setAttribute("aria-busy", "false");
      return drawSoon();
    }
    const own = id === "own", game = gameOf(id), made = { game, runs: [] };
    addresses[id] ??= fairRule.address(policies[id].script, own ? translated.script : "");
    const ran = (run) => {
      made.runs.push(run);
      ended++;
      results.set(id, made);
      drawSoon();
    };
    const stopped = fairRule.play({ address: addresses[id], game, seed: state.seed, runs: state.runs, own }, ran, (sentence, spoiled) => {
      running.delete(stopped);
      if (spoiled) results.delete(id);
      if (sentence) find(".fault").textContent = sentence;
      next();
    });
    running.add(stopped);
  }
  let waiting = 0; // while something is dragged a race begins some times a second
  function raceSoon() {
    root.setAttribute("aria-busy", "true");
    keep();
    drawArms();
    drawSettings();
    waiting ||= setTimeout(() => { waiting = 0; race(); }, 60);
  }

  // What came of it.
  const sumOf = (id, notion) => { // where a notion is among what was summed; -1 where it is not defined
    if (id === "fair-greedy") return notion === "ranks" ? policies[id].sums.indexOf("fairness_regret") : -1;
    return notion === "r_regret" && state.plays > 1 ? -1 : policies[id].sums.indexOf(notion);
  };
  const sharesOf = (id) => {
    const { game, runs } = results.get(id);
    return Array.from({ length: game.sizes.K }, (_, a) => average(runs.map((run) => run.selected.at(-1)[a])) / game.rounds.at(-1));
  };
  let drawing = 0;
  function drawSoon() { drawing ||= requestAnimationFrame(() => { drawing = 0; drawResults(); }); }
  function drawResults() {
    const shown = listed.filter((id) => results.has(id)), any = results.get(shown.find((id) => id !== "fair-greedy"));
    const fair = any ? [...any.runs[0].sums.at(-1).slice(policies.ucb1.sums.indexOf("optimal"))] : [];
    const top = Math.max(...shown.flatMap(sharesOf), ...fair, ...state.shares), mark = (kind, share) => (share === undefined ? ""
      : `<div class="${kind}" style="bottom:${(100 * share) / top}%"></div>`);
    find(".strips").innerHTML = shown.map((id) => {
      const { name, look } = policies[id], ranks = id === "fair-greedy", shares = sharesOf(id);
      const said = `${name}: ${shares.map((x, a) => `arm ${a + 1} ${(100 * x).toFixed(1)} %`).join(", ")}`;
      const bars = shares.map((x, a) => `<div data-share="${x}">${(100 * x).toFixed(x < 0.0995 ? 1 : 0)}<div class="share">
        <div style="height:${(100 * x) / top}%;background:${look.stroke}"></div>
        ${mark("promise", state.shares[a])}${ranks ? "" : mark("fair", fair[a])}</div>${a + 1}</div>`);
      const rounds = ranks ? `, ${results.get(id).game.rounds.at(-1).toLocaleString("en")} rounds` : "";
      return `<section data-policy="${id}"><p class="title">${dash(policies[id])}${name}${rounds}</p>
        <div class="strip" role="img" aria-label="${said}">${bars.join("")}</div></section>`;
    }).join("");
    drawTable(shown);
    drawCurve(shown);
    const left = running.size || queue.length, arms = state.means.length;
    find(".going").textContent = left ? `Playing: ${ended} of ${wanted} runs` : "";
    if (!left) find(".said").textContent = shown.length ? `Played ${state.runs} ${state.runs === 1 ? "run" : "runs"} of each.` : "";
    find(".ranks").textContent = shown.includes("fair-greedy")
      ? `Fair-Greedy needs to see who is to be chosen. So it plays a game of its own on the same means: in each round each arm
        sends a candidate, worth its mean give or take ${spread / 2}, and it compares each with earlier ones of the same arm. A
        policy that does not look at candidates has a regret of ranks of ${short3(arms / (arms + 1) - 0.5)} a round, whatever it
        plays.` : "";
  }
  function drawTable(shown) {
    const head = Object.values(NOTIONS).map(([title]) => `<th scope="col">${title}</th>`).join("");
    const cell = (id, notion, title) => {
      const at = sumOf(id, notion);
      if (at < 0) return `<td data-label="${title}">–</td>`;
      const ends = results.get(id).runs.map((run) => run.sums.at(-1)[at]), mean = average(ends);
      const give = ends.length > 1 ? ` <small>± ${short3(+error(ends).toPrecision(2))}</small>` : "";
      return `<td data-label="${title}" data-notion="${notion}" data-value="${mean}"><span>${short3(mean)}${give}</span></td>`;
    };
    const rows = shown.map((id) => `<tr data-policy="${id}"><th scope="row">${policies[id].name}</th>
      ${Object.entries(NOTIONS).map(([notion, [title]]) => cell(id, notion, title)).join("")}</tr>`);
    find("table").innerHTML = `<caption class="unseen">Mean over runs, plus or minus its standard error</caption>
      <thead><tr><th scope="col">After the last round</th>${head}</tr></thead><tbody>${rows.join("")}</tbody>`;
  }
  function drawCurve(shown) {
    const box = find(".curve"), wide = Math.max(box.clientWidth, 280), high = 260, labels = wide > 560, right = labels ? 150 : 12, left = 52;
    const curves = shown.filter((id) => sumOf(id, state.show) >= 0).map((id) => {
      const { game, runs } = results.get(id), at = sumOf(id, state.show);
      return { id, points: game.rounds.map((t, i) => [t, average(runs.map((run) => run.sums[i][at]))]) };
    });
    const [title, says] = NOTIONS[state.show];
    if (!curves.length) {
      box.innerHTML = `<p>Nobody who plays has this notion: ${says}.</p>`;
      return;
    }
    const values = curves.flatMap(({ points }) => points.map(([, y]) => y)), low = Math.min(0, ...values);
    const top = Math.max(...values, low + 1e-9), end = Math.max(...curves.map(({ points }) => points.at(-1)[0]));
    const x = (t) => left + (t / end) * (wide - left - right), y = (value) => high - 30 - ((value - low) / (top - low)) * (high - 50);
    const spots = curves.map(({ id, points }) => ({ id, at: y(points.at(-1)[1]) })).sort((one, other) => one.at - other.at);
    spots.forEach((spot, i) => { if (i) spot.at = Math.max(spot.at, spots[i - 1].at + 15); });
    const lines = curves.map(({ id, points }) => `<polyline data-policy="${id}" fill="none" stroke-width="2.5"
      stroke="${policies[id].look.stroke}" stroke-dasharray="${policies[id].look.dash}"
      points="${[[0, 0], ...points].map(([t, value]) => `${x(t).toFixed(1)},${y(value).toFixed(1)}`).join(" ")}"/>`);
    const levels = ticks(low, top, 5).map((value) => `<line x1="${left}" x2="${wide - right}" y1="${y(value)}" y2="${y(value)}"
      stroke="#e4e4e1"/><text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${value.toLocaleString("en").replace("-", "−")}</text>`);
    const times = ticks(0, end, wide > 480 ? 6 : 3).map((t) => `<text x="${x(t)}" y="${high - 12}"
      text-anchor="${t === end ? "end" : "middle"}">${t.toLocaleString("en")}</text>`);
    const names = spots.map(({ id, at }) => `<text x="${wide - right + 6}" y="${at + 4}"
      style="fill:${policies[id].look.stroke}">${policies[id].name.replace("Thompson sampling)", "Thompson)")}</text>`);
    const ends = curves.map(({ id, points }) => `${policies[id].name} ${short3(points.at(-1)[1])}`).join(", ");
    box.innerHTML = `<svg viewBox="0 0 ${wide} ${high}" height="${high}" role="img"
      aria-label="${title}, ${says}, over the rounds. After the last: ${ends}.">
      ${[...levels, ...times, ...lines, ...(labels ? names : [])].join("")}</svg>`;
  }

  // What the reader does.
  function move(a, mean) {
    state.means[a] = Math.min(1, Math.max(0, Math.round(100 * mean) / 100));
    raceSoon();
  }
  const columns = find(".columns");
  columns.addEventListener("pointerdown", (event) => {
    const slider = event.target.closest(".mean");
    if (!slider || event.button) return;
    event.preventDefault();
    slider.focus({ preventScroll: true });
    slider.setPointerCapture(event.pointerId);
    const follow = ({ clientY }) => {
      const { top, height } = slider.getBoundingClientRect();
      move(Number(slider.dataset.arm), (top + height - clientY) / height);
    };
    slider.onpointermove = follow;
    slider.onlostpointercapture = () => { slider.onpointermove = null; };
    follow(event);
  });
  columns.addEventListener("keydown", (event) => {
    const slider = event.target.closest(".mean");
    if (!slider) return;
    const a = Number(slider.dataset.arm), by = { ArrowUp: 0.01, ArrowRight: 0.01, ArrowDown: -0.01, ArrowLeft: -0.01, PageUp: 0.1, PageDown: -0.1 }[event.key];
    const to = by ? state.means[a] + by : { Home: 0, End: 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    move(a, to);
  });
  columns.addEventListener("input", ({ target }) => {
    const arms = state.means.length, share = Number(target.value), fine = target.value.trim() && share >= 0 && share < 1 / arms;
    target.setAttribute("aria-invalid", String(!fine));
    complain(fine ? [] : [`What arm ${+target.dataset.arm + 1} is promised must be a number from 0 to below 1/${arms}, not “${target.value}”.`]);
    if (!fine) return;
    state.shares[target.dataset.arm] = share;
    raceSoon();
  });
  columns.addEventListener("change", drawArms);
  find(".settings").addEventListener("input", ({ target }) => {
    const { set } = target.dataset, value = target.value.trim() ? Number(target.value) : NaN, low = Number(target.min), high = Number(target.max);
    const rounded = set === "steepness" ? Math.round(10 * value) / 10 : value;
    const fine = rounded >= low && (set === "steepness" || (Number.isInteger(value) && value <= high));
    target.setAttribute("aria-invalid", String(!fine));
    complain(fine ? [] : [`${target.parentElement.firstChild.textContent.trim()} must be a whole number from ${low} to ${high}, not “${target.value}”.`]);
    if (!fine) return;
    state[set] = set === "steepness" ? Math.min(rounded, high) : value;
    if (set === "plays" && state.steepness > steepest(state)) {
      state.steepness = steepest(state);
      complain([`With ${value} plays a round and ${state.means.length} arms merit may be no steeper than ${state.steepness},
        or an arm could need a probability above 1.`]);
    }
    raceSoon();
  });
  find(".contestants").addEventListener("change", ({ target }) => {
    state.policies = listed.filter((id) => (id === target.value ? target.checked : state.policies.includes(id)));
    keep();
    if (target.value === "own" && target.checked) letOwnPlay();
    else race();
  });
  find("select").addEventListener("change", ({ target }) => { state.show = target.value; keep(); drawResults(); });
  find("textarea").addEventListener("input", ({ target }) => { state.rule = target.value; keep(); });
  function resize(arms) {
    state.means = Array.from({ length: arms }, (_, a) => state.means[a] ?? 0.5);
    state.shares = state.means.map((_, a) => Math.min(state.shares[a] ?? 0, below(arms)));
    state.plays = Math.min(state.plays, mostPlays(arms));
    state.steepness = Math.min(state.steepness, steepest(state));
    complain([]);
    raceSoon();
  }
  const deeds = {
    more: () => resize(state.means.length + 1),
    fewer: () => resize(state.means.length - 1),
    again: () => { complain([]); state = fresh(); keep(); begin(); },
    own: () => { state.policies = listed.filter((id) => id === "own" || state.policies.includes(id)); keep(); letOwnPlay(); },
    link: async () => { find(".said").textContent = await copy(`${location.href.split("#")[0]}#${written(state)}`, root); },
  };
  root.addEventListener("click", ({ target }) => deeds[target.closest("[data-do]")?.dataset.do]?.());

  // A reader's own rule.
  async function letOwnPlay() {
    find(".own").open = true;
    find(".fault").textContent = "";
    translated = null;
    results.delete("own");
    find(".read").textContent = "Reading the rule";
    root.setAttribute("aria-busy", "true");
    try {
      const made = await fairRule.read(state.rule);
      URL.revokeObjectURL(addresses.own);
      delete addresses.own;
      translated = made;
    } catch (error) {
      find(".fault").textContent = error.message;
    }
    find(".read").textContent = "";
    drawSettings();
    race();
  }

  function begin() {
    drawAll();
    if (state.policies.includes("own")) letOwnPlay();
    else race();
  }
  addEventListener("hashchange", () => {
    if (!asked() || asked() === written(state)) return;
    ({ state, wrong } = read(asked()));
    complain(wrong);
    begin();
  });
  addEventListener("resize", drawSoon);
  root.hidden = false;
  const still = document.querySelector("#fig-playground"); // the picture for whoever reads without scripts
  if (still) (still.closest(".cell") ?? still).hidden = true;
  complain(wrong);
  begin();
});
