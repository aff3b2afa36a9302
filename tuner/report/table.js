// Tables with sort buttons in their heads. They show more rows on request.

// columns: {name, number, show(row), key(row), words}; rows: anything. At first only `page` rows are in the document.
function sortedTable(caption, columns, rows, options) {
  const o = options || {}, page = o.page || 50;
  let shown = page, order = rows.slice(), by = o.by === undefined ? -1 : o.by, down = !!o.down;
  const body = html("tbody"), more = html("button", {type: "button", text: "Show more", on: {click: () => { shown += 200; fill(); }}});
  const heads = columns.map((column, i) => html("th", {scope: "col", class: column.number ? "number" : null},
    html("button", {type: "button", text: column.name, on: {click: () => { down = by === i && !down; by = i; sort(); }}})));
  const table = html("table", {}, html("caption", {class: "hidden", text: caption}), html("thead", {}, html("tr", {}, ...heads)), body);
  const box = html("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption}, table);
  const count = html("p", {class: "count", "aria-live": "polite"});
  function sort() {
    heads.forEach((head, i) => (i === by ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
    if (by >= 0) {
      const keys = new Map(order.map((row) => [row, columns[by].key(row)])), sign = down ? -1 : 1;
      const missing = (key) => key === undefined || key === "" || Number.isNaN(key);
      order.sort((a, b) => {
        const x = keys.get(a), y = keys.get(b);
        if (missing(x) || missing(y)) return missing(x) - missing(y);  // last in both directions
        return sign * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), undefined, {numeric: true}));
      });
    }
    fill();
  }
  function fill() {
    const many = Math.min(shown, order.length);
    body.replaceChildren(...order.slice(0, many).map((row) => html("tr", {class: o.mark && o.mark(row) ? "best" : null},
      ...columns.map((column, i) => {
        const cell = column.show(row), tag = i === 0 ? "th" : "td";
        return html(tag, {scope: i === 0 ? "row" : null, class: column.number ? "number" : column.words ? "words" : null}, cell);
      }))));
    more.hidden = many === order.length;
    count.textContent = (order.length === rows.length ? "" : showCount(order.length) + " of ") + plural(rows.length, o.noun || "row") +
                        (many < order.length ? ", the first " + showCount(many) + " shown" : "");
  }
  sort();
  return {node: html("div", {}, count, box, more), keep: (test) => { order = rows.filter(test); shown = page; sort(); }};
}

// `block_x=32`, `time<20us`, `registers>=64`, or words that must occur. columns: {name, key(row), show(row)}.
function rowFilter(text, columns) {
  const tests = text.trim().split(/\s+/).filter(Boolean).map((part) => {
    const match = /^(.+?)(<=|>=|=|<|>)(.+)$/.exec(part);
    const column = match && columns.find((one) => one.name.toLowerCase() === match[1].toLowerCase());
    if (!column) {
      const word = part.toLowerCase();
      return (row) => columns.some((one) => (one.name + "=" + textOf(one.show(row))).toLowerCase().includes(word));
    }
    const amount = /^([\d.]+)(ns|us|\u00b5s|ms|s)?$/.exec(match[3]);
    const number = amount ? amount[1] * ({us: 1e3, "\u00b5s": 1e3, ms: 1e6, s: 1e9}[amount[2]] || 1) : NaN;
    return (row) => {
      const key = column.key(row);
      if (match[2] === "=") return String(key).toLowerCase() === match[3].toLowerCase() || key === number;
      return match[2][0] === "<" ? (match[2] === "<" ? key < number : key <= number) : match[2] === ">" ? key > number : key >= number;
    };
  });
  return (row) => tests.every((test) => test(row));
}
function textOf(cell) { return typeof cell === "string" ? cell : cell ? cell.textContent : ""; }
