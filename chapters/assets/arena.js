// The arena: what the policies of the book did in its games, as a table that can be sorted, and a reader's rule beside them.
// `fairArena` is made from the record when the book is built, `fairArenaGames` fetched when a rule is to play.
const arenaPlace = new URL(".", document.currentScript.src);
addEventListener("DOMContentLoaded", () => {
  const root = document.querySelector("[data-arena]");
  if (!root || !window.fairArena || !window.fairRule) return;
  const { seed: SEED, policies, cells, fronts } = fairArena, { average, error, short3, ticks, copy } = fairResults;
  const MEASURES = {
    fairness_regret: ["Fairness regret", "distance to the fair policy, summed"],
    regret: ["Regret", "expected reward lost against the best arm"],
    deficit: ["Worst deficit", "most plays by which an arm was behind its promise"],
    reward_regret: ["Reward regret", "expected reward lost against the fair policy, in rounds in which it earned more"],
  };
  const RULE = `# Play the arms that have paid best, and each
# of the others in a small share of the rounds.
def my_rule(seen, p, plays=1, floor=0.02):
    for a in range(p.size):
        p[a] = 2.0  # not seen yet
        if seen.observed[a] > 0:
            p[a] = seen.total[a] / seen.observed[a]
    for place in range(int(plays)):
        p[largest(p)] = -1.0  # chosen
    for a in range(p.size):
        if p[a] < 0:
            p[a] = 1 - floor * (p.size - plays) / plays
        else:
            p[a] = floor
`;
  const HORIZONS = Object.keys(cells), OWN = "your rule", OWN_RUNS = 20, MANY = 3, AVERAGE = "on average"; // MANY: standard errors
  const games = Object.keys(cells[HORIZONS[0]]);
  const measured = (game) => Object.keys(MEASURES).filter((each) => cells[HORIZONS[0]][game][each]);
  const START = { show: "fairness_regret", T: HORIZONS.at(-1), as: "ranks", by: AVERAGE, down: "", name: "", only: "all", rule: RULE, plays: "" };
  const ONLY = { all: "all policies", proved: "settings of a theorem", usual: "usual settings" };

  // The state, and the link that says it.
  const written = () => Object.entries(state).filter(([name, value]) => value !== START[name])
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  function read(link) {
    const made = { ...START }, wrong = [];
    const allowed = { show: [...Object.keys(MEASURES), ...games], T: HORIZONS, as: ["ranks", "numbers"], only: Object.keys(ONLY), down: ["", "yes"], plays: ["", "yes"] };
    for (const [name, value] of new URLSearchParams(link.replaceAll("+", "%2B"))) {
      if (!Object.hasOwn(START, name)) wrong.push(`The link has “${name}”, which the arena does not know.`);
      else if (allowed[name] && !allowed[name].includes(value)) wrong.push(`In the link, ${name} must be ${allowed[name].filter(Boolean).join(", ")}, not “${value}”.`);
      else made[name] = value;
    }
    return [made, wrong];
  }
  const asked = () => (location.hash.includes("=") ? location.hash.slice(1) : "");
  let [state, wrong] = read(asked()), own = {}, refused = {}; // own: by horizon, game and measure, what the reader's rule came to
  let keeping;
  const keep = () => {
    clearTimeout(keeping);
    keeping = setTimeout(() => history.replaceState(null, "", `#${written()}`), 250);
  };

  root.innerHTML = `
    <p class="wrong" role="alert"></p>
    <details class="own" open><summary>A rule of your own</summary>
      <label>Your rule, in Python<textarea rows="14" spellcheck="false" autocapitalize="off" autocomplete="off"></textarea></label>
      <div class="line"><button type="button" data-do="own">Let it play</button><span class="going" role="status"></span></div></details>
    <p class="fault wrong" role="alert"></p>
    <div class="settings">
      <label>Show <select data-set="show">
        <optgroup label="A measure, in all games">${Object.entries(MEASURES).map(([id, [title]]) => `<option value="${id}">${title}</option>`).join("")}</optgroup>
        <optgroup label="A game, by all measures">${games.map((game) => `<option>${game}</option>`).join("")}</optgroup></select></label>
      <label>Rounds <select data-set="T">${HORIZONS.map((T) => `<option value="${T}">${Number(T).toLocaleString("en")}</option>`).join("")}</select></label>
      <label>Name has <input type="search" data-set="name"></label>
      <label>Show only <select data-set="only">${Object.entries(ONLY).map(([id, title]) => `<option value="${id}">${title}</option>`).join("")}</select></label>
    </div>
    <div class="line"><button type="button" data-do="as" aria-pressed="false">Numbers</button><span class="about"></span></div>
    <div class="scroll" tabindex="0" role="region" aria-label="Results"><table></table></div>
    <p class="said" role="status"></p>
    <div class="fronts"></div>
    <div class="line"><button type="button" data-do="link">Copy link</button><button type="button" data-do="again">Start again</button>
      <a href="${new URL("arena.json", arenaPlace)}" download>All numbers</a> <span class="copied" role="status"></span></div>`;
  const find = (selector) => root.querySelector(selector), all = (selector) => [...root.querySelectorAll(selector)];
  const escaped = (text) => text.replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter]);
  const give = (size) => (size < 1e-9 ? "" : ` ± ${short3(+size.toPrecision(2))}`);
  // Where a policy is taught: the links of the list of policies on this page.
  const places = new Map([...document.querySelectorAll(".arena-policies tr")].map((row) => [row.cells[0]?.textContent.trim(), row.querySelector("a")?.href]));

  // What a policy did: mean, error, worst run, between which ranks it is, and whether it is close to the best.
  function cellOf(name, game, measure) {
    if (name !== OWN) return cells[state.T][game]?.[measure]?.[name];
    const found = own[state.T]?.[game]?.[measure];
    if (!found) return undefined;
    const others = Object.values(cells[state.T][game][measure]);
    const sure = (less, more) => more[0] - less[0] > MANY * Math.hypot(less[1], more[1]);
    const better = others.filter((each) => sure(each, found)).length, worse = others.filter((each) => sure(found, each)).length;
    return [...found, 1 + better, 1 + others.length - worse, 0];
  }
  // The place on average of each policy that plays half of the games or more: of the shares of the others that are better in
  // the games that it plays. A policy that may have one of several ranks has the middle one.
  function placesOf(columns) {
    const names = [...(Object.keys(own).length ? [OWN] : []), ...Object.keys(policies)];
    const better = new Map(names.map((name) => [name, columns.flatMap(({ game, measure }) => {
      const value = cellOf(name, game, measure);
      return value ? [(value[3] + value[4] - 2) / 2 / othersIn(game, measure, name)] : [];
    })]).filter(([, shares]) => shares.length >= columns.length / 2).map(([name, shares]) => [name, average(shares)]));
    return new Map([...better].map(([name, share]) => [name, 1 + [...better.values()].filter((each) => each < share - 1e-9).length]));
  }
  const othersIn = (game, measure, name) => Object.keys(cells[state.T][game][measure]).length - (name === OWN ? 0 : 1);
  const nth = (n) => `${n}${["st", "nd", "rd"][((n + 90) % 100 - 10) % 10 - 1] ?? "th"}`;
  // Where the reader's rule is: its place, and the games in which its mean is the lowest.
  function verdict(columns, places) {
    const least = columns.filter(({ game, measure }) => {
      const found = cellOf(OWN, game, measure);
      return found && Object.values(cells[state.T][game][measure]).every((each) => found[0] < each[0]);
    }).length;
    const count = ["no game", "one game", "two games", "three games"][least] ?? `${least} games`;
    return `${nth(places.get(OWN))} of ${places.size} on average, best in ${count}`;
  }
  // Rows of the same numbers in all that is shown are one row with several names.
  function rowsOf(columns) {
    const made = new Map(), found = [];
    for (const name of [...(Object.keys(own).length ? [OWN] : []), ...Object.keys(policies)]) {
      const values = columns.map(({ game, measure }) => cellOf(name, game, measure));
      if (values.every((each) => !each)) continue;
      if (state.only !== "all" && name !== OWN && policies[name].proved !== (state.only === "proved")) continue;
      if (state.name && name !== OWN && !name.toLowerCase().includes(state.name.toLowerCase())) continue;
      const key = JSON.stringify(values.map((each) => each?.slice(0, 3)));
      if (made.has(key)) made.get(key).names.push(name);
      else {
        made.set(key, { names: [name], values });
        found.push(made.get(key));
      }
    }
    return found;
  }
  const nameOf = (name, place) => {
    const link = places.get(name), said = link ? `<a href="${link}">${escaped(name)}</a>` : escaped(name);
    const notes = [name === OWN ? `${OWN_RUNS} runs` : "", name === OWN ? place : "", policies[name]?.knows ? `knows ${policies[name].knows}` : ""].filter(Boolean);
    return `${said}${notes.length ? ` <small>${notes.join(", ")}</small>` : ""}`;
  };
  function draw() {
    const game = games.includes(state.show) ? state.show : "";
    const columns = game ? measured(game).map((measure) => ({ game, measure, title: MEASURES[measure][0], says: MEASURES[measure][1] }))
      : games.filter((each) => cells[state.T][each][state.show]).map((each) => ({ game: each, measure: state.show, title: each, says: "" }));
    const places = game ? null : placesOf(columns), ranks = !game && state.as === "ranks";
    const heads = game ? columns : [{ title: AVERAGE, says: "Place by the share of the others that are better, for policies that play half of the games" }, ...columns];
    if (!heads.some(({ title }) => title === state.by)) state.by = heads[0].title;
    const at = columns.findIndex(({ title }) => title === state.by), rows = rowsOf(columns);
    const sign = state.down ? -1 : 1; // who does not fit stands last either way
    const key = ({ names, values }) => (at < 0 ? places.get(names[0]) : values[at]?.[0]) ?? sign * Infinity;
    rows.sort((one, other) => sign * (key(one) - key(other)) || 0);
    const head = heads.map(({ title, says }) => `<th scope="col" aria-sort="${title !== state.by ? "none" : state.down ? "descending" : "ascending"}"><button type="button"
      data-by="${title}" title="${says ? `${says}. ` : ""}Sort by it; once more, the other way.">${title.replace("/", "/<wbr>")}${title !== state.by ? "" : state.down ? " ↓" : " ↑"}</button></th>`).join("");
    const cell = (value, i) => {
      if (!value) return `<td data-value="">–</td>`;
      const [mean, off, worst, best, last, close] = value, number = `${short3(mean)}<small>${give(off)}</small>`;
      if (ranks) {
        const { game: there, measure } = columns[i], better = (best + last - 2) / 2 / othersIn(there, measure, "");
        return `<td data-value="${mean}"${close ? ' class="close"' : ""} style="--good: ${Math.round(60 * (1 - better))}%"
          title="${there}: ${short3(mean)}${give(off)}"><span>${best === last ? best : `${best}–${last}`}</span></td>`;
      }
      const rank = best === last ? `rank ${best}` : `rank ${best} to ${last}`, more = game ? ` <small>worst run ${short3(worst)}</small>` : "";
      return `<td data-value="${mean}"${close ? ' class="close"' : ""}><span>${number}</span> <small>${rank}</small>${more}</td>`;
    };
    const ownPlace = places?.has(OWN) ? verdict(columns, places) : "";
    const shown = rows.map(({ names, values }) => `<tr${names.includes(OWN) ? ' class="mine"' : ""}><th scope="row">${names.map((name) => nameOf(name, ownPlace)).join(", ")}</th>
      ${game ? "" : `<td>${places.get(names[0]) ?? "–"}</td>`}${values.map(cell).join("")}</tr>`);
    find("table").className = ranks ? "ranks" : "";
    find("table").innerHTML = `<caption class="unseen">${ranks ? "Ranks" : "Means over runs with their standard errors, and ranks"}</caption>
      <thead><tr><th scope="col">Policy</th>${head}</tr></thead><tbody>${shown.join("")}</tbody>`;
    find("[data-do=as]").setAttribute("aria-pressed", String(!ranks));
    find("[data-do=as]").hidden = Boolean(game);
    find(".about").innerHTML = game ? `<a href="#game-${game.replace("/", "-")}">${game}</a>: what the game is` : `${ranks ? "Ranks by " : ""}${MEASURES[state.show][0].toLowerCase()}: ${MEASURES[state.show][1]}.`;
    const count = rows.reduce((sum, { names }) => sum + names.length, 0);
    find(".said").textContent = `${count} ${count === 1 ? "policy" : "policies"}, ${at < 0 ? `${state.down ? "last" : "best"} first on average` : `${state.down ? "most" : "least"} first by ${state.by}`}. `
      + Object.entries(refused).filter(([each]) => !game || each === game).map(([each, why]) => `Your rule does not fit ${each}: ${why}`).join(" ");
    for (const input of all("[data-set]")) if (input !== document.activeElement) input.value = state[input.dataset.set];
    if (find("textarea").value !== state.rule) find("textarea").value = state.rule;
    drawFronts(game, rows);
  }

  // The table fades at the side on which it goes on.
  const results = find(".scroll"), edge = () => results.classList.toggle("more-right", results.scrollLeft < results.scrollWidth - results.clientWidth - 2);
  results.addEventListener("scroll", edge, { passive: true });
  for (const each of [results, find("table")]) new ResizeObserver(edge).observe(each);

  // Two measures against each other.
  function drawFronts(game, rows) {
    const box = find(".fronts"), wide = Math.min(Math.max(root.clientWidth - 24, 260), 640), high = 330, left = 56, low = 44;
    const seconds = game ? Object.keys(fronts[state.T][game] ?? {}) : [];
    box.innerHTML = seconds.map((second) => {
      const kept = fronts[state.T][game][second];
      const points = rows.map(({ names }) => ({ names, x: cellOf(names[0], game, "regret"), y: cellOf(names[0], game, second) }));
      const most = (axis) => Math.max(...points.map((point) => point[axis][0] + point[axis][1])) || 1;
      const [right, top] = [most("x"), most("y")];
      const x = (value) => left + (value / right) * (wide - left - 16), y = (value) => high - low - (value / top) * (high - low - 30);
      // Names stand beside their marks where there is room; the sentence below has them all.
      const used = points.map((point) => [x(point.x[0]) - 5, y(point.y[0]) - 5, 10, 10]);
      const free = ([u, v, w, h]) => u > left && u + w < wide && v > 0 && !used.some(([a, b, c, d]) => u < a + c && a < u + w && v < b + d && b < v + h);
      const marks = points.sort((one, other) => one.x[0] - other.x[0]).map(({ names, x: a, y: b }) => {
        const on = names.find((name) => name in kept), sure = on && kept[on] >= 0.95, mine = names.includes(OWN), [px, py] = [x(a[0]), y(b[0])];
        const colour = mine ? "#9c4f00" : on ? "#0b5a8f" : "#6b7280", said = names.join(", ");
        const bars = `<path d="M${px},${y(b[0] + b[1])}V${y(Math.max(0, b[0] - b[1]))}M${x(Math.max(0, a[0] - a[1]))},${py}H${x(a[0] + a[1])}" stroke="${colour}"/>`;
        const mark = mine ? `<path d="M${px},${py - 7}l6,7l-6,7l-6,-7z" fill="${colour}"/>`
          : on ? `<circle cx="${px}" cy="${py}" r="5" fill="${sure ? colour : "#fcfcfb"}" stroke="${colour}" stroke-width="2"/>`
            : `<path d="M${px - 4},${py - 4}l8,8m-8,0l8,-8" stroke="${colour}" stroke-width="1.5"/>`;
        const long = 7 * said.length, places = [[px + 8, py - 7], [px - 8 - long, py - 7], [px + 4, py - 19], [px + 4, py + 6], [px - long, py - 19], [px - long, py + 6]];
        const place = on || mine ? places.map((at) => [...at, long, 13]).find(free) : undefined;
        if (place) used.push(place);
        const label = place ? `<text x="${place[0] < px ? place[0] + long : place[0]}" y="${place[1] + 11}"
          text-anchor="${place[0] < px ? "end" : "start"}" style="fill:${colour}">${escaped(said)}</text>` : "";
        return `<g><title>${escaped(said)}: regret ${short3(a[0])}, ${MEASURES[second][0].toLowerCase()} ${short3(b[0])}</title>${bars}${mark}${label}</g>`;
      });
      const front = points.filter(({ names }) => names.some((name) => name in kept)).map(({ names }) => names.join(", "));
      const scale = [...ticks(0, right, wide > 480 ? 6 : 3).map((value) => `<text x="${x(value)}" y="${high - low + 18}" text-anchor="middle">${short3(value)}</text>`),
        ...ticks(0, top, 5).map((value) => `<line x1="${left}" x2="${wide - 16}" y1="${y(value)}" y2="${y(value)}" stroke="#e4e4e1"/>
          <text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${short3(value)}</text>`)];
      const title = MEASURES[second][0];
      return `<figure><figcaption>${title} against regret in ${game}</figcaption><svg viewBox="0 0 ${wide} ${high}" height="${high}" role="img"
        aria-label="${title} against regret of ${points.length} policies. On the Pareto front: ${escaped(front.join("; "))}.">${scale.join("")}
        <text x="${(left + wide) / 2}" y="${high - 6}" text-anchor="middle">regret</text>${marks.join("")}</svg>
        <p>On the Pareto front, from the least regret on: ${escaped(front.join("; "))}.</p></figure>`;
    }).join("") + (seconds.length ? `<p>A dot is on the Pareto front in at least 95 per cent of the resamples of the runs, a ring by its means
      only; for a cross some other policy is at least as good in both measures. Bars are standard errors.</p>` : "");
  }

  // A reader's rule plays every game on arms.
  let playing = new Set(), turn = 0;
  async function letOwnPlay() {
    const mine = ++turn;
    for (const stop of playing) stop();
    playing.clear();
    [own, refused] = [{}, {}];
    find(".own").open = true;
    find(".fault").textContent = "";
    find(".going").textContent = "Reading the rule";
    root.setAttribute("aria-busy", "true");
    const rules = new Map(); // by plays a round, which a rule gets as its setting `plays`
    try {
      if (!window.fairArenaGames) await fairRule.fetched("arena-games.js");
      for (const { numbers: { plays } } of Object.values(fairArenaGames.games)) {
        if (!rules.has(plays)) rules.set(plays, await fairRule.read(state.rule.replace(/\bplays\s*=\s*1\b/, `plays=${plays}`)));
      }
    } catch (error) {
      if (mine !== turn) return;
      find(".fault").textContent = error.message;
      find(".going").textContent = "";
      root.setAttribute("aria-busy", "false");
      return draw();
    }
    if (mine !== turn) return;
    const { scripts, games: known } = fairArenaGames, addresses = new Set();
    const queue = HORIZONS.flatMap((T) => Object.keys(known).map((game) => [T, game])), wanted = queue.length;
    let ended = 0;
    const next = () => {
      const task = queue.shift();
      if (!task) {
        if (playing.size) return;
        for (const address of addresses) URL.revokeObjectURL(address);
        root.setAttribute("aria-busy", "false");
        const mine = find(".mine");
        find(".going").textContent = `Your rule: ${mine ? mine.cells[0].querySelector("small").textContent : "it fits no game"}. Games with contexts need the package.`;
        mine?.scrollIntoView({ block: "center" });
        return;
      }
      const [T, game] = task, { script, sums, numbers } = known[game], rule = rules.get(numbers.plays), made = [];
      const address = fairRule.address(scripts[script], rule.script);
      addresses.add(address);
      const plays = { ...structuredClone(numbers), rounds: [Number(T)], ...rule.numbers(numbers.sizes.K) };
      const stop = fairRule.play({ address, game: plays, seed: SEED, runs: OWN_RUNS, own: true }, (run) => made.push(run.sums.at(-1)), (sentence) => {
        playing.delete(stop);
        ended++;
        if (sentence) refused[game] = sentence;
        else {
          (own[T] ??= {})[game] = Object.fromEntries(Object.keys(MEASURES).map((measure) => {
            const lost = made.map((run) => run[sums.indexOf(measure)]);
            return [measure, [average(lost), error(lost), Math.max(...lost)]];
          }));
        }
        find(".going").textContent = `Playing: ${ended} of ${wanted} games`;
        draw();
        next();
      });
      playing.add(stop);
    };
    for (let lane = 0; lane < fairRule.lanes; lane++) next();
  }

  const set = ({ target }) => {
    if (target.matches("textarea")) state.rule = target.value;
    else if (target.dataset.set) state[target.dataset.set] = target.value;
    keep();
    if (!target.matches("textarea")) draw();
  };
  root.addEventListener("input", set);
  root.addEventListener("change", set); // a list that is set by a tool may say no more than this
  const deeds = {
    as: () => { state.as = state.as === "ranks" ? "numbers" : "ranks"; keep(); draw(); },
    own: () => { state.plays = "yes"; keep(); letOwnPlay(); },
    again: () => { turn++; for (const stop of playing) stop(); [own, refused, state] = [{}, {}, { ...START }]; keep(); begin([]); },
    link: async () => { find(".copied").textContent = await copy(`${location.href.split("#")[0]}#${written()}`, root); },
  };
  root.addEventListener("click", ({ target }) => {
    const by = target.closest("[data-by]")?.dataset.by;
    if (by) {
      [state.by, state.down] = [by, by === state.by && !state.down ? "yes" : ""];
      keep();
      draw();
      find(`[data-by="${by}"]`).focus();
    }
    deeds[target.closest("[data-do]")?.dataset.do]?.();
  });
  addEventListener("hashchange", () => {
    if (!asked() || asked() === written()) return;
    const [made, wrong] = read(asked());
    state = made;
    begin(wrong);
  });
  function begin(wrong) {
    find(".wrong").textContent = wrong.join(" ");
    draw();
    if (state.plays) letOwnPlay();
    else root.setAttribute("aria-busy", "false");
  }
  root.hidden = false;
  begin(wrong);
});
