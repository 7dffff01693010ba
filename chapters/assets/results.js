// How the playground and the arena show results: numbers, means with their standard errors, round ticks, and a link to copy.
window.fairResults = (() => {
  const average = (numbers) => numbers.reduce((x, y) => x + y, 0) / numbers.length;
  const error = (numbers) => Math.sqrt(average(numbers.map((x) => (x - average(numbers)) ** 2)) / (numbers.length - 1)); // standard error
  const short3 = (x) => { // with three digits, or as a whole number
    const text = Math.abs(x) < 1e-9 ? "0" : Math.abs(x) >= 100 ? Math.round(x).toLocaleString("en") : String(+x.toPrecision(3));
    return text.replace("-", "−");
  };
  const ticks = (from, to, most) => { // at round numbers
    const unit = 10 ** Math.floor(Math.log10((to - from) / most)), made = [];
    const by = unit * [1, 2, 5, 10].find((each) => (to - from) / (unit * each) <= most);
    for (let i = Math.ceil(from / by); i * by <= to * 1.0001; i++) made.push(+(i * by).toPrecision(6));
    return made;
  };
  async function copy(link, root) {
    history.replaceState(null, "", link);
    try { await navigator.clipboard.writeText(link); } catch { // a page on a disk may not
      const field = document.createElement("textarea");
      field.value = link;
      root.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    return "The link is copied. It is in the address line, too.";
  }
  return { average, error, short3, ticks, copy };
})();
