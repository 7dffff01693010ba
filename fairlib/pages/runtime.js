// What translated functions need: arrays, the order of equal numbers as NumPy has it, and NumPy's own random numbers.
"use strict";

function $zeros(n, m, l) {
  const size = n * (m ?? 1) * (l ?? 1);
  if (!(size <= 1e7) || n < 0 || m < 0 || l < 0) throw new RangeError(`an array of ${size} numbers, where at most 10,000,000 fit`);
  const all = new Float64Array(size); // whole numbers are exact in it up to 2^53
  return m === undefined ? all : $rows(all, n, m, l);
}
function $put(x, value) {
  if (typeof value === "number") x instanceof Float64Array ? x.fill(value) : x.forEach((row) => $put(row, value));
  else if (value.length === 1 && x.length !== 1) x instanceof Float64Array ? x.fill(value[0]) : x.forEach((row) => $put(row, value[0]));
  else if (value.length !== x.length) throw new RangeError(`${value.length} numbers put where there are ${x.length}`);
  else if (x instanceof Float64Array) x.set(value);
  else value.map((row) => row.slice()).forEach((row, i) => $put(x[i], row)); // a copy, as they may be the same rows
}
function $rows(x, n, m, l) {
  const all = $flat(x), long = m * (l ?? 1), many = n === -1 ? all.length / long : n;
  if (many * long !== all.length || many < 0) throw new RangeError(`${all.length} numbers do not fill ${n} times ${long}`);
  return Array.from({ length: many }, (_, i) => {
    const row = all.subarray(i * long, (i + 1) * long);
    return l === undefined ? row : $rows(row, m, l);
  });
}
function $flat(x) { // of rows that lie one behind the other
  if (x instanceof Float64Array) return x;
  if (!x.length) return new Float64Array(0);
  const first = $flat(x[0]);
  return new Float64Array(first.buffer, first.byteOffset, x.length * first.length);
}
function $shape(x, axes) { return axes === 1 ? [x.length] : [x.length, ...(x.length ? $shape(x[0], axes - 1) : Array(axes - 1).fill(0))]; }
function $rest(a, b) { // with the sign of b
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
}
function $pow(a, b) { return a === 1 || (a === -1 && Math.abs(b) === Infinity) ? 1 : Math.pow(a, b); } // nan in JavaScript
function $max(a, b) { return b > a ? b : a; } // Math.max has another way with nan and with -0
function $min(a, b) { return b < a ? b : a; }
function $at(x, i) { // the place, counted from the end if it is negative
  const place = i < 0 ? x.length + i : i;
  if (!(place >= 0 && place < x.length)) throw new RangeError(`place ${i} of an array that has ${x.length}`);
  return place;
}
function $exact(x) { // whole numbers beyond 2^53 are rounded here, and not in Python, where none is -0
  if (!Number.isSafeInteger(x)) throw new RangeError(`the whole number ${x}: a page knows those up to 2^53 alone`);
  return x + 0;
}
function $divisor(x) {
  if (x === 0) throw new RangeError("a whole number divided by 0");
  return x;
}
function $known(x) {
  if (x === undefined) throw new ReferenceError("a name is used before it has a value");
  return x;
}
function $action(answer) { return answer === undefined ? -1 : answer; }
function $slice(whole, params, i) { // settings and memory stay where they are: a view of them is made once
  return (whole.pieces ??= [])[i] ??= whole.subarray(params[i], params[i + 1]);
}
function $largest(x) { // the first nan, if there is one
  if (!x.length) throw new RangeError("the largest of no numbers");
  let best = 0;
  for (let i = 1; i < x.length && x[best] === x[best]; i++) if (!(x[i] <= x[best])) best = i;
  return best;
}
function $less(a, b) { return a < b || (b !== b && a === a); } // nan comes last
function $below(x, value, orAt) { // how many of sorted numbers are below a value, or at it as well
  let low = 0;
  for (let high = x.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (orAt ? !$less(value, x[middle]) : $less(x[middle], value)) low = middle + 1;
    else high = middle;
  }
  return low;
}
function $sorted(x) { // as NumPy's merge sort: equal numbers stay in order
  const n = x.length, order = new Float64Array(n);
  if (n > 40) return order.fill(0).map((_, i) => i).sort((i, j) => $less(x[j], x[i]) - $less(x[i], x[j]));
  for (let i = 0; i < n; i++) {
    let j = i;
    for (; j > 0 && $less(x[i], x[order[j - 1]]); j--) order[j] = order[j - 1];
    order[j] = i;
  }
  return order;
}

// NumPy's SeedSequence and the start of its PCG64: the state of stream `key` of a seed, a BigInt.
function $state(seed, key) {
  const words = (n) => { const out = []; do { out.push(Number(n & 0xffffffffn)); n >>= 32n; } while (n > 0n); return out; };
  const all = words(BigInt(seed));
  while (all.length < 4) all.push(0);
  for (const each of key) all.push(...words(BigInt(each)));
  let h = 0x43b0d7e5;
  const hash = (v) => { v ^= h; h = Math.imul(h, 0x931e8875); v = Math.imul(v, h); return (v ^ (v >>> 16)) >>> 0; };
  const mix = (x, y) => { const r = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) | 0; return (r ^ (r >>> 16)) >>> 0; };
  const pool = [0, 1, 2, 3].map((i) => hash(all[i]));
  for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) if (i !== j) pool[j] = mix(pool[j], hash(pool[i]));
  for (let i = 4; i < all.length; i++) for (let j = 0; j < 4; j++) pool[j] = mix(pool[j], hash(all[i]));
  h = 0x8b51f9dd;
  const out = [];
  for (let i = 0; i < 8; i++) {
    let v = pool[i % 4] ^ h;
    h = Math.imul(h, 0x58f38ded);
    v = Math.imul(v, h);
    out.push(BigInt((v ^ (v >>> 16)) >>> 0));
  }
  const u = (i) => out[2 * i] | (out[2 * i + 1] << 32n), cut = (x) => BigInt.asUintN(128, x);
  const inc = cut((((u(2) << 64n) | u(3)) << 1n) | 1n);
  return { state: cut(cut(inc + ((u(0) << 64n) | u(1))) * $FACTOR + inc), inc };
}
const $FACTOR = 0x2360ed051fc65da44385df649fccf645n;

// PCG64, 512 words at a time: by a few hundred bytes of WebAssembly where a page may have it, else by BigInt.
const $MODULE = (() => {
  try { return new WebAssembly.Module(Uint8Array.from(atob("$WASM"), (c) => c.charCodeAt(0))); } catch { return null; }
})();
class $Generator {
  constructor(seed, key) {
    const { state, inc } = $state(seed, key), low = (x) => BigInt.asUintN(64, x);
    if ($MODULE) {
      const { fill, memory } = new WebAssembly.Instance($MODULE).exports;
      this.fill = () => fill(32, 4128);
      this.words = new Uint32Array(memory.buffer, 0, 1032);
      new BigUint64Array(memory.buffer, 0, 4).set([state >> 64n, low(state), inc >> 64n, low(inc)]);
    } else {
      this.words = new Uint32Array(1032);
      const drawn = new BigUint64Array(this.words.buffer, 32);
      let now = state;
      this.fill = () => {
        for (let i = 0; i < 512; i++) {
          now = BigInt.asUintN(128, now * $FACTOR + inc);
          const x = (now >> 64n) ^ low(now), by = now >> 122n;
          drawn[i] = low((x >> by) | (x << ((64n - by) & 63n)));
        }
      };
    }
    this.at = 1032;
  }
  next() { // a word: its halves lie in words[at - 2], the low one, and words[at - 1]
    if (this.at === 1032) { this.fill(); this.at = 8; }
    this.at += 2;
  }
}
function $double(rng) {
  if (rng.at === 1032) { rng.fill(); rng.at = 8; }
  const words = rng.words, i = rng.at;
  rng.at = i + 2;
  return (words[i + 1] * 2097152 + (words[i] >>> 11)) / 9007199254740992;
}
// NumPy's ziggurats, with a word taken apart by halves.
function $normal(rng) {
  for (;;) {
    rng.next();
    const low = rng.words[rng.at - 2], high = rng.words[rng.at - 1], i = low & 255, whole = (high & 0x1fffffff) * 8388608 + (low >>> 9);
    const x = low & 256 ? -(whole * $wi[i]) : whole * $wi[i];
    if (whole < $ki[i]) return x;
    if (i === 0) {
      for (;;) {
        const xx = -$norInvR * Math.log1p(-$double(rng)), yy = -Math.log1p(-$double(rng));
        if (yy + yy > xx * xx) return Math.floor(whole / 256) % 2 ? -($norR + xx) : $norR + xx;
      }
    }
    if (($fi[i - 1] - $fi[i]) * $double(rng) + $fi[i] < Math.exp(-0.5 * x * x)) return x;
  }
}
function $exponential(rng) {
  for (;;) {
    rng.next();
    const low = rng.words[rng.at - 2], high = rng.words[rng.at - 1], i = (low >>> 3) & 255, whole = high * 2097152 + (low >>> 11);
    const x = whole * $we[i];
    if (whole < $ke[i]) return x;
    if (i === 0) return $expR - Math.log1p(-$double(rng));
    if (($fe[i - 1] - $fe[i]) * $double(rng) + $fe[i] < Math.exp(-x)) return x;
  }
}
function $table(text) {
  const bytes = atob(text);
  return new Float64Array(Uint8Array.from(bytes, (c) => c.charCodeAt(0)).buffer);
}

// One run of a game: what is recorded of it, what the policy has seen at its end, or the round of a fault.
function $play(game, seed, run) {
  for (let room = 4096; ; room *= 8) {
    const policyRng = new $Generator(seed, [run, 0]), envRng = new $Generator(seed, [run, 1]);
    const made = (game.waits ? $onArms : $onContexts)(game, policyRng, envRng, room);
    if (!made.full) return made;
  }
}
function $recorded(game) {
  const { rounds, sizes, sums } = game;
  return { selected: $zeros(rounds.length, sizes.K), reward: $zeros(rounds.length), sums: $zeros(rounds.length, sums), watch: $zeros(16) };
}
function $agent(game, wait = 0) { // a policy on arms with what it has seen: where its rule finds its arrays
  const { K } = game.sizes, list = (n) => $zeros(n);
  return {
    params: Float64Array.from(game.params), state: list(game.memory), p: list(K), selected: list(K), observed: list(K),
    total: list(K), available: list(K).fill(1), cursors: list(2 * game.readers), arms: list(wait), rewards: list(wait), rounds: list(wait), chances: list(wait),
  };
}
function $onArms(game, policyRng, envRng, room) {
  const rounds = Float64Array.from(game.rounds), capacity = Math.min(room, rounds[rounds.length - 1] * game.plays);
  const block = $agent(game, game.readers ? capacity : 0), made = $recorded(game);
  const table = (x) => ({ params: x.map((row) => Float64Array.from(row)) });
  // The metrics have numbers and memory of their own.
  const counted = { ...block, params: Float64Array.from(game.metricParams), state: $zeros(game.sums) };
  const there = { ...block, params: Float64Array.from(game.there) };
  made.fault = play_rounds$1(null, null, null, null, null, {
    ...block, rule_block: block, draw_block: table(game.table), delay_block: table(game.waits), metrics_block: counted,
    there_block: there, has_delay: game.late, plays: game.plays, capacity, sums: counted.state, recorded: rounds,
    policy_rng: policyRng, env_rng: envRng,
    selected_at: made.selected, reward_at: made.reward, sums_at: made.sums, watch: made.watch,
  });
  return { ...made, block, full: made.watch[2] !== 0 };
}
function $onContexts(game, policyRng, envRng) {
  const { K, d, G } = game.sizes, rounds = Float64Array.from(game.rounds), long = game.history ? rounds[rounds.length - 1] : 0;
  const list = (n) => $zeros(n), n = game.ridge ? d : 0, made = $recorded(game);
  const block = {
    params: Float64Array.from(game.params), state: list(game.memory), p: list(K), contexts: $zeros(K, d), groups: list(K),
    means: list(K), rewards: list(1), ridge: { mean: list(n), root: $zeros(n, n) }, cursors: list(2 * game.readers),
    past: { contexts: $zeros(long, K, d), groups: $zeros(long, K), played: list(long), rewards: list(long) },
    arms: list(1), rounds: list(1), chances: list(1),
  };
  for (let i = 0; i < n; i++) block.ridge.root[i][i] = 1 / Math.sqrt(game.ridge);
  const drawn = { ...block, params: Float64Array.from(game.table), rewards: list(K) };
  const counted = { ...block, params: Float64Array.from(game.metricParams), state: list(game.sums) };
  made.fault = play_contexts$1(null, null, null, {
    ...block, rule_block: block, draw_block: drawn, metrics_block: counted, n_groups: G, rewards: drawn.rewards,
    selected: list(K), feedback_arms: block.arms, feedback_rewards: block.rewards, feedback_rounds: block.rounds,
    feedback_chances: block.chances, sums: counted.state, recorded: rounds, policy_rng: policyRng, env_rng: envRng,
    selected_at: made.selected, reward_at: made.reward, sums_at: made.sums, watch: made.watch,
  });
  return { ...made, block };
}
