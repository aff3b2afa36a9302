// Elements, scales, units and colours for the pictures. Text enters the document only as text.

const SVG = "http://www.w3.org/2000/svg";

function put(node, attributes, children) {
  for (const name in attributes || {}) {
    const value = attributes[name];
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const event in value) node.addEventListener(event, value[event]);
    else if (name === "text") node.textContent = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children || []) if (child !== null && child !== undefined) node.append(child);
  return node;
}
function html(tag, attributes, ...children) { return put(document.createElement(tag), attributes, children); }
function svg(tag, attributes, ...children) { return put(document.createElementNS(SVG, tag), attributes, children); }
function label(x, y, text, attributes) { return svg("text", {x: round(x), y: round(y), text, ...attributes}); }
function round(x) { return Math.round(x * 10) / 10; }

const textWidth = (() => {
  const context = document.createElement("canvas").getContext("2d");
  return (text, weight) => {
    context.font = (weight || 400) + " 12px " + getComputedStyle(document.body).fontFamily;
    return context.measureText(text).width;
  };
})();
function shorten(text, width, weight) {
  if (textWidth(text, weight) <= width) return text;
  let end = text.length;
  while (end > 1 && textWidth(text.slice(0, end) + "\u2026", weight) > width) --end;
  return text.slice(0, end) + "\u2026";
}

// ---- numbers for people -------------------------------------------------------------------------------------------

const THIN = "\u00a0";
function digits(value, count) {
  if (value === 0) return "0";
  const size = Math.abs(Number(value.toPrecision(count || 3)));  // 0.9996 is 1.00
  return value.toFixed(Math.min(Math.max(0, (count || 3) - 1 - Math.floor(Math.log10(size) + 1e-9)), 12));
}
function scaled(value, units, step, count) {
  if (!Number.isFinite(value)) return "\u2013";
  let unit = 0;
  while (unit + 1 < units.length && Math.abs(value) >= step * 0.9995) value /= step, ++unit;
  return digits(value, count) + THIN + units[unit];
}
const TIMES = ["ns", "\u00b5s", "ms", "s"];
const showTime = (ns, count) => scaled(ns, TIMES, 1000, count);
const showRate = (rate) => scaled(rate, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"], 1000);
const showFlops = (rate) => scaled(rate, ["FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"], 1000);
const showJoules = (joules, count) => scaled(joules * 1e9, ["nJ", "\u00b5J", "mJ", "J", "kJ"], 1000, count);
// Formats the numbers of a metric. Those of the energy sensor have units.
const showerOf = (metric) => (metric === "energy" ? (joules) => showJoules(joules) : metric === "power" ? (watts) => digits(watts, 3) + THIN + "W" : showNumber);
const showBytes = (bytes) => (bytes < 1024 ? bytes + THIN + "B" : scaled(bytes, ["B", "KiB", "MiB", "GiB", "TiB"], 1024));
const showPercent = (share, count) => digits(share * 100, count || (share < 0.0995 ? 2 : 3)) + "%";
function showCount(count) { return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ","); }
function showNumber(value) {
  if (!Number.isFinite(value)) return "\u2013";
  if (Number.isInteger(value)) return Math.abs(value) < 1e15 ? (value < 0 ? "-" : "") + showCount(Math.abs(value)) : value.toExponential(2);
  return Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3 ? value.toExponential(2) : digits(value, 4);
}
function showSeconds(s) {
  if (!Number.isFinite(s)) return "\u2013";
  if (s < 1) return Math.round(s * 1000) + THIN + "ms";
  if (s < 100) return digits(s, 2) + THIN + "s";
  const minutes = Math.floor(s / 60);
  return minutes < 60 ? minutes + THIN + "min " + Math.round(s % 60) + THIN + "s" : Math.floor(minutes / 60) + THIN + "h " + (minutes % 60) + THIN + "min";
}
function showInstant(ms) { return new Date(ms).toISOString().slice(0, 16).replace("T", " ") + " UTC"; }
function plural(count, noun) { return showCount(count) + " " + noun + (count === 1 ? "" : "s"); }
function showInterval(center, low, high) {
  return low <= high && center > 0 ? "\u00b1" + digits((high - low) / 2 / center * 100, 2) + "%" : "";
}

// ---- scales -------------------------------------------------------------------------------------------------------

// Round steps of 1, 2 or 5 between low and high, at most about `count`.
function roundTicks(low, high, count) {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(count, 1), power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = power * [1, 2, 5, 10].find((one) => one * power >= rough * 0.999);
  const out = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) out.push(i * step);
  return out;
}
function logTicks(low, high, count) {
  const out = [], from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high));
  for (const list of [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7]]) {
    const found = [];
    for (let power = from; power <= to; ++power)
      for (const one of list) {
        const tick = one * Math.pow(10, power);
        if (tick >= low * 0.9999 && tick <= high * 1.0001) found.push(tick);
      }
    if (found.length <= count || !out.length) out.splice(0, out.length, ...found);
  }
  const every = Math.ceil(out.length / Math.max(count, 2));
  return out.length < 3 ? roundTicks(low, high, Math.min(count, 5)) : out.filter((_, i) => i % every === 0);
}

// An axis: place(value), ticks(count), and show(value), which formats a tick. Numbers of which one is not positive have no
// logarithmic axis.
function numberScale(low, high, show, log) {
  log = log && low > 0;
  if (!(high > low)) {
    const pad = Math.abs(low) * 0.05 || 1;
    low -= pad, high += pad;
    log = false;
  }
  const place = log ? (v) => Math.log(v / low) / Math.log(high / low) : (v) => (v - low) / (high - low);
  return {low, high, log, show, place, ticks: (count) => (log ? logTicks(low, high, count) : roundTicks(low, high, count))};
}
function bandScale(values) {
  return {band: true, values, place: (i) => (i + 0.5) / values.length, show: (i) => String(values[i]),
          ticks: (count) => values.map((_, i) => i).filter((i) => i % Math.ceil(values.length / Math.max(count, 1)) === 0)};
}
// Removes zeros at the end of times and rates, for ticks.
function plain(text) { return text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, ""); }

// ---- colours: the steps differ in lightness, so that everybody can distinguish them ---------------------------------

const VIRIDIS = [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37]];
function isDark() { return document.documentElement.getAttribute("data-theme") === "dark"; }
// A share of 0 is like the page, 1 differs most from it.
function shade(share, from, to) {
  share = (from || 0) + share * ((to === undefined ? 1 : to) - (from || 0));
  const at = Math.min(Math.max(isDark() ? share : 1 - share, 0), 1) * (VIRIDIS.length - 1), low = Math.min(Math.floor(at), VIRIDIS.length - 2);
  const rgb = VIRIDIS[low].map((c, i) => Math.round(c + (VIRIDIS[low + 1][i] - c) * (at - low)));
  return {css: "rgb(" + rgb.join(",") + ")", dark: rgb[0] * 0.299 + rgb[1] * 0.587 + rgb[2] * 0.114 < 128};
}
// Okabe and Ito's colours, for words that have no order.
function hue(i) {
  const light = ["#0072b2", "#d55e00", "#007a58", "#b8559a", "#8a6a00", "#2b9bd8", "#4d4d4d"];
  const dark = ["#56b4e9", "#e69f00", "#19c796", "#e69ac6", "#f0e442", "#4d9fff", "#cfcfcf"];
  return (isDark() ? dark : light)[i % 7];
}

// ---- frames -------------------------------------------------------------------------------------------------------

// A plot with axes, below a legend: {node, x(value), y(value), left, right, top, bottom}. `strip`: free space above it.
function frame(width, plotHeight, x, y, names, entries, strip) {
  const node = svg("svg"), above = legend(node, width, entries, 12) + 6 + (strip || 0), height = plotHeight + above;
  put(node, {viewBox: "0 0 " + width + " " + height, width, height});
  const top = above + 26, bottom = height - 44;
  const ticksY = y.ticks(Math.max(2, Math.floor((bottom - top) / (y.band ? 16 : 44))));
  const textsY = ticksY.map((tick) => shorten(plain(y.show(tick)), width * 0.3));
  const left = Math.ceil(Math.max(24, ...textsY.map((text) => textWidth(text)))) + 10, right = width - 14;
  const px = (value) => left + x.place(value) * (right - left), py = (value) => bottom - y.place(value) * (bottom - top);
  ticksY.forEach((tick, i) => {
    if (!y.band) node.append(svg("line", {class: "grid", x1: left, x2: right, y1: round(py(tick)), y2: round(py(tick))}));
    node.append(label(left - 8, py(tick) + 4, textsY[i], {"text-anchor": "end"}));
  });
  const widest = (count) => Math.max(...x.ticks(count).map((tick) => textWidth(plain(x.show(tick)))));
  let count = Math.max(2, Math.min(x.band ? 40 : 8, Math.floor((right - left) / 30)));
  while (count > 2 && x.ticks(count).length * (widest(count) + 14) > right - left) --count;
  for (const tick of x.ticks(count)) {
    const text = shorten(plain(x.show(tick)), x.band ? (right - left) / Math.min(x.values.length, count) : 200), half = textWidth(text) / 2;
    node.append(svg("line", {class: "axis", x1: round(px(tick)), x2: round(px(tick)), y1: bottom, y2: bottom + 4}));
    node.append(label(Math.min(Math.max(px(tick), half + 1), width - half - 1), bottom + 18, text, {"text-anchor": "middle"}));
  }
  node.append(svg("line", {class: "axis", x1: left, x2: right, y1: bottom, y2: bottom}));
  node.append(label((left + right) / 2, height - 5, shorten(names.x, right - left), {"text-anchor": "middle", class: "name"}));
  node.append(label(0, above + 12, shorten(names.y, width), {class: "name"}));
  return {node, x: px, y: py, left, right, top, bottom, width, height};
}

// A row of names with their marks, wrapped; returns its height.
function legend(node, width, entries, y) {
  let x = 0, line = 0;
  for (const entry of entries) {
    const text = shorten(entry.text, width - 28), wide = 24 + textWidth(text) + 16;
    if (x > 0 && x + wide - 16 > width) x = 0, ++line;
    const at = y + line * 20;
    if (entry.line) node.append(svg("line", {class: entry.line, x1: x, x2: x + 18, y1: at - 4, y2: at - 4}));
    else if (entry.area) node.append(svg("rect", {class: entry.area, x: x + 2, y: at - 10, width: 16, height: 12, rx: 2}));
    else if (entry.ring) node.append(svg("circle", {class: "ring", cx: x + 9, cy: at - 4, r: 5}));
    else node.append(svg("circle", {cx: x + 9, cy: at - 4, r: 4.5, fill: entry.colour, class: entry.dot}));
    node.append(label(x + 24, at, text));
    x += wide;
  }
  return entries.length ? (line + 1) * 20 : 0;
}

// Points are one path for each colour, so that ten thousand take only a few milliseconds.
function dots(points, colour, size, opacity) {
  let path = "";
  for (const point of points) path += "M" + round(point.x) + "," + round(point.y) + "h0";
  return svg("path", {d: path, stroke: colour, "stroke-width": size, "stroke-linecap": "round", fill: "none", opacity});
}

// ---- inspecting points --------------------------------------------------------------------------------------------

const tip = document.getElementById("tip");
function showTip(lines, x, y) {
  tip.replaceChildren(html("b", {text: lines[0]}), ...lines.slice(1).map((line) => html("span", {text: line})));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(8, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(8, y - box.height - 14) : y + 18) + "px";
}
function hideTip() { tip.hidden = true; }
addEventListener("scroll", hideTip, {passive: true});

// Shows one of `points` ({x, y, lines()}): the nearest to the pointer, or the next in reading order for arrow keys.
function explore(node, points, name) {
  const order = points.map((_, i) => i).sort((a, b) => points[a].x - points[b].x || points[a].y - points[b].y);
  const mark = svg("circle", {class: "focus", r: 7, cx: -20, cy: -20});
  let at = -1;
  node.append(mark);
  const show = (i, clientX, clientY) => {
    const point = points[i];
    put(mark, {cx: round(point.x), cy: round(point.y)});
    showTip(point.lines(), clientX, clientY);
  };
  const hide = () => { put(mark, {cx: -20, cy: -20}); hideTip(); };
  const scale = () => node.getBoundingClientRect().width / node.viewBox.baseVal.width;
  const near = (event) => {
    const box = node.getBoundingClientRect(), s = scale(), x = (event.clientX - box.left) / s, y = (event.clientY - box.top) / s;
    let best = -1, least = 28 * 28;
    points.forEach((point, i) => {
      const far = (point.x - x) ** 2 + (point.y - y) ** 2;
      if (far < least) least = far, best = i;
    });
    if (best < 0) hide();
    else show(best, event.clientX, event.clientY);
  };
  put(node, {tabindex: 0, role: "group", "aria-roledescription": "picture",
             "aria-label": name + " Arrow keys go from point to point.",
             on: {pointermove: near, pointerdown: near, pointerleave: hide, blur: hide, keydown: (event) => {
               const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity, Escape: 0}[event.key];
               if (step === undefined || !points.length) return;
               if (step === 0) return hide();
               event.preventDefault();
               at = Math.min(Math.max(at < 0 ? (step > 0 && step < Infinity ? 0 : step === Infinity ? order.length - 1 : 0) : at + step, 0), order.length - 1);
               const point = points[order[at]], box = node.getBoundingClientRect(), s = scale();
               show(order[at], box.left + point.x * s, box.top + point.y * s);
             }}});
  return node;
}

// Downloads the picture with the colours that it has on the page.
function downloadPicture(node, name) {
  const copy = node.cloneNode(true), from = node.querySelectorAll("*"), to = copy.querySelectorAll("*");
  const kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];
  to.forEach((one, i) => {
    const style = getComputedStyle(from[i]);
    for (const property of kept) if (property.slice(0, 4) !== "font" || one.tagName === "text") one.setAttribute(property, style.getPropertyValue(property));
    one.removeAttribute("class");
  });
  const [, , width, height] = node.getAttribute("viewBox").split(" ");
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("viewBox", "-12 -12 " + (+width + 24) + " " + (+height + 24));
  put(copy, {width: +width + 24, height: +height + 24});
  for (const attribute of ["tabindex", "role", "aria-label", "aria-roledescription"]) copy.removeAttribute(attribute);
  copy.prepend(svg("rect", {x: -12, y: -12, width: +width + 24, height: +height + 24, fill: getComputedStyle(document.body).backgroundColor}));
  const text = new XMLSerializer().serializeToString(copy), link = html("a", {download: name + ".svg"});
  link.href = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  return text;
}
