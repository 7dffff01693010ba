// The search of the book, in the place of Sphinx's: it finds places (search_index.py), not pages. A place must have all words of
// the query, or as many as any place has. What a place is called counts most, and a rare word more than a common one.
const Search = {
  weights: { function: 0.4, exercise: 0.6, word: 0.7 }, // the text comes first
  again: /\/(bibliography|cards|figures|index|map|results|status|teaching)$/, // what is there stands elsewhere too
  aside: /, (Patil|Wang|Grazzi|Chen|\p{Ll}+)$/u, // in the name of a place: whose it is, or of what kind

  words: (text) => text.toLowerCase().replace(/[’']s\b/g, "").match(/[\p{L}\p{N}]+(?:\.\p{N}+)*/gu) ?? [], // 3.3.1 is one word
  telling: (words) => {
    const found = words.filter((word) => !stopwords.includes(word)); // Sphinx's list
    return found.length ? found : words;
  },

  // How often a word is among others. One that begins with it counts half.
  count: (word, others) => {
    let n = 0;
    for (const other of others) {
      if (other === word || other === `${word}s` || `${other}s` === word) n += 1;
      else if (word.length > 2 && other.startsWith(word)) n += 0.5;
    }
    return n;
  },

  // How much of a name is asked for: about 1 if all of it, 0 if it doesn't say all that is asked. A name in the index comes
  // before a title, which is the first of the names.
  fit: (asked, name, i) => {
    const bare = name.replace(Search.aside, "");
    const said = Search.telling(Search.words(bare));
    if (!asked.every((word) => Search.count(word, said))) return 0;
    return Math.sqrt(Math.min(1, asked.length / said.length)) - (bare === name ? 0 : 0.02) - (i ? 0 : 0.01);
  },

  find: (query) => {
    const asked = Search.telling(Search.words(query));
    const places = window.fairPlaces.map(([page, at, title, above, kind, names, text]) => {
      const words = Search.words(text);
      const called = Search.words([title, ...names.flat()].join(" "));
      const over = Search.words(above.join(" "));
      const counts = asked.map((word) =>
        5 * Math.min(1, Search.count(word, called)) + Math.min(1, Search.count(word, over)) + Search.count(word, words));
      const [fit, id] = names.map(([name, id], i) => [Search.fit(asked, name, i), id]).reduce((a, b) => (b[0] > a[0] ? b : a), [0, at]);
      return { page, at: id, title, above, kind, text, long: words.length, counts, fit, has: counts.filter(Boolean).length };
    });
    const long = places.reduce((sum, place) => sum + place.long, 0) / places.length;
    const rare = asked.map((_, i) => Math.log(places.length / (1 + places.filter((place) => place.counts[i]).length)));
    const most = Math.max(...places.map((place) => place.has));
    const score = ({ page, kind, counts, fit, long: its }) => {
      const text = counts.reduce((sum, n, i) => sum + rare[i] * n / (n + 0.5 + its / long), 0);
      const whole = fit > 0.95; // of two that are called so the first in the book comes first, whatever else they say
      return (whole ? 100 * fit : text + 30 * fit) * (Search.weights[kind] ?? 1) * (Search.again.test(page) ? 0.5 : 1);
    };
    if (!most) return [];
    return places.filter((place) => place.has === most).map((place) => ({ ...place, score: score(place) }))
      .sort((a, b) => b.score - a.score).slice(0, 50);
  },

  // What is said around the first of the words, with all of them marked.
  around: (text, asked) => {
    const said = new RegExp(`(?<![\\p{L}\\p{N}])(${asked.join("|").replaceAll(".", "\\.")})`, "giu");
    const at = Math.max(0, text.search(said));
    const from = at < 100 ? 0 : text.indexOf(" ", at - 100) + 1;
    const to = text.length < from + 240 ? text.length : text.lastIndexOf(" ", from + 240);
    const shown = document.createElement("p");
    shown.className = "context";
    shown.append(from ? "… " : "");
    text.slice(from, to).split(said).forEach((part, i) => {
      const node = i % 2 ? document.createElement("mark") : document.createTextNode("");
      node.textContent = part;
      shown.append(node);
    });
    shown.append(to < text.length ? " …" : "");
    return shown;
  },

  show: (query) => {
    const found = Search.find(query);
    const asked = Search.telling(Search.words(query));
    const title = document.createElement("h2");
    title.textContent = found.length ? "Places found" : `Nothing in the book has “${query}”`;
    const list = document.createElement("ul");
    list.className = "search";
    for (const { page, at, title, above, text } of found) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = `${page}.html?found=${asked.join("+")}#${at}`;
      link.textContent = title;
      item.append(link, above.length ? ` in ${above.join(" › ")}` : "", Search.around(text, asked));
      list.append(item);
    }
    document.getElementById("search-results").replaceChildren(title, list);
  },

  init: () => {
    const query = new URLSearchParams(location.search).get("q")?.trim();
    if (!query || !document.getElementById("search-results")) return;
    for (const field of document.querySelectorAll("input[name=q]")) field.value = query;
    const places = document.createElement("script");
    places.src = "_static/places.js";
    places.onload = () => Search.show(query);
    document.head.append(places);
  },
};
addEventListener("DOMContentLoaded", Search.init);
