// Runs of a policy in a worker, and a reader's own rule: read and translated by the book's own translator, in Python,
// which is fetched when it is needed. The playground and the arena share it.
(() => {
  const place = new URL(".", document.currentScript.src), PATIENCE = 8000; // milliseconds for a run of a reader's own rule
  const PLAY = `onmessage = ({ data: { game, seed, runs } }) => {
    for (let run = 0, fault = 0; run < runs && !fault; run++) {
      const made = $play(game, seed, run);
      postMessage({ fault: fault = made.fault, selected: made.selected, sums: made.sums });
    }
  };`;
  const address = (...scripts) => URL.createObjectURL(new Blob([[fairRuntime, ...scripts, PLAY].join("\n")], { type: "text/javascript" }));

  // Plays runs. Calls `ran` with each, and `ended` at the end, with a sentence if that came early and whether the runs count for nothing.
  function play({ address, game, seed, runs, own }, ran, ended) {
    const worker = new Worker(address);
    let made = 0, timer = 0;
    const stop = () => { worker.terminate(); clearTimeout(timer); };
    const end = (sentence = "", spoiled = false) => { stop(); ended(sentence, spoiled); };
    const watch = () => {
      clearTimeout(timer);
      if (own) timer = setTimeout(() => end(`Your rule was stopped: in ${PATIENCE / 1000} seconds it did not finish run ${made}.
        Is there a loop in it that never ends?`), PATIENCE);
    };
    worker.onmessage = ({ data }) => {
      if (data.fault) {
        return end(`The rule must return probabilities in [0, 1] that sum to ${game.plays}, or an arm that there is; in round
          ${data.fault} of run ${made} it did not.`, true);
      }
      made++;
      ran(data);
      if (made === runs) end();
      else watch();
    };
    worker.onerror = (event) => {
      event.preventDefault();
      end(`The rule broke off: ${event.message}.`, true);
    };
    watch();
    worker.postMessage({ game, seed, runs });
    return stop;
  }

  let reader = null;
  const fetched = (name) => new Promise((done, failed) => {
    const element = document.createElement("script");
    Object.assign(element, { src: new URL(name, place), onload: done, onerror: () => failed(new Error(`${name} could not be loaded`)) });
    document.head.append(element);
  });
  async function start() {
    navigator.userLanguage ??= "en"; // Brython reads it first, and breaks off where the browser's language is none, such as C
    await Promise.all([fetched("brython.js"), fetched("playground-own.js")]);
    __BRYTHON__.use_VFS = true;
    __BRYTHON__.update_VFS(window.fairOwn);
    __BRYTHON__.runPythonSource("import reader", "page"); // sets `fairRead`
  }
  // Returns the script of a rule and how its game's numbers change; throws the sentence that says what is wrong with it.
  async function read(text) {
    try {
      await (reader ??= start());
    } catch (error) {
      reader = null;
      throw new Error(`The rule could not be read: ${error.message}.`);
    }
    let said;
    try {
      said = window.fairRead(text);
    } catch {
      throw new Error("Your rule has too many parts, each within the one before.");
    }
    const [script, memory, readers, refused] = said;
    if (refused) throw new Error(`${refused[0].toUpperCase()}${refused.slice(1)}.`);
    return { script, numbers: (arms) => { // where each piece of its memory begins and ends
      const ends = memory.reduce((sums, size) => [...sums, sums.at(-1) + (size === "K" ? arms : size)], [0]);
      return { params: memory.flatMap((_, i) => [ends[i], ends[i + 1]]), memory: ends.at(-1), readers };
    } };
  }
  window.fairRule = { address, play, read, fetched, lanes: Math.min(4, navigator.hardwareConcurrency || 2) };
})();
