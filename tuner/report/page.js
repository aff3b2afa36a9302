// The page: chooses a tuning and its parts.

let data = null;
// JSON, compressed, in base 64.
async function read() {
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent), (letter) => letter.charCodeAt(0));
  data = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}
const NOTE = "tuner report " + location.pathname;
const state = {tuning: "", theme: "", x: "", y: "objective", colour: "", a: "", b: "", how: "best", over: "trials", filter: "", scroll: 0};
let redraw = [];

function remember() {
  if (!restoring) state.scroll = scrollY;
  try { sessionStorage.setItem(NOTE, JSON.stringify(state)); } catch { window.name = NOTE + JSON.stringify(state); }
}
function recall() {
  let text = null;
  try { text = sessionStorage.getItem(NOTE); } catch { text = window.name.startsWith(NOTE) ? window.name.slice(NOTE.length) : null; }
  try { const kept = JSON.parse(text) || {}; for (const name in state) if (typeof kept[name] === typeof state[name]) state[name] = kept[name]; } catch { /* from another page */ }
}

const problemOf = (tuning) => [tuning.choices, tuning.sizes].filter(Boolean).join("  ");
const idOf = (tuning) => [tuning.kernel.name, tuning.kernel.source, tuning.kernel.objective, problemOf(tuning), tuning.device.key, JSON.stringify(tuning.environment), tuning.conditions, tuning.database].join("|");

// A tuning with values derived from it.
function look(tuning) {
  const {kernel, device, environment} = tuning, trials = tuning.trials ? new Trials(tuning.trials, kernel) : null;
  const view = {tuning, kernel, device, environment, trials, all: data.tunings, isTime: kernel.is_time};
  const shower = showerOf(kernel.metric);
  // Internally the smallest value is the best. People see the metric itself.
  const outside = (value) => (kernel.is_larger_better ? 1 / value : value);
  view.showSeen = view.isTime ? showTime : shower;
  view.show = (value, count) => view.showSeen(outside(value), count);
  view.value = (row) => trials.objective[row];
  view.seen = (row) => outside(trials.objective[row]);
  view.bestRow = -1;
  view.bestText = tuning.best ? tuning.best.text : "";
  view.bestNs = tuning.best ? tuning.best.median_ns : NaN;
  if (!trials) return view;
  view.failed = trials.first.filter((row) => trials.kind[row] !== "ok").length;
  view.exhaustive = tuning.sessions.some((one) => one.strategy === "exhaustive");
  // Pictures of all trials mark the winner's first measurement.
  const leader = trials.measured.reduce((best, row) => (best < 0 || trials.objective[row] < trials.objective[best] ? row : best), -1);
  view.bestRow = leader;
  if (tuning.best && tuning.best.row !== undefined) {
    const same = trials.parameters.every.bind(trials.parameters), row = tuning.best.row;
    const found = trials.measured.find((one) => same((parameter) => parameter.places[one] === parameter.places[row]));
    if (found !== undefined) view.bestRow = found;
  } else if (!tuning.best && leader >= 0) {
    view.bestText = trials.configuration(leader);
    view.bestNs = trials.median[leader];
  }
  view.bestFirst = view.bestRow >= 0 ? trials.objective[view.bestRow] : NaN;
  view.best = trials.rowsOf(view.bestText);
  view.ranking = importance(trials);
  return view;
}

// ---- the answer ---------------------------------------------------------------------------------------------------

function claim(list, strong, rest) { list.push(html("li", {}, html("b", {text: strong}), rest ? " " + rest : "")); }

function answerPart(view) {
  const {tuning, device, trials} = view, best = tuning.best, claims = [];
  const when = best ? showInstant(best.measured) : "";
  const ceiling = memoryCeiling(tuning, device);
  if (tuning.bytes && view.bestNs > 0) {
    const rate = tuning.bytes / view.bestNs * 1e9;
    claim(claims, showRate(rate), (ceiling.rate ? showPercent(rate / ceiling.rate) + " of this device\u2019s " + ceiling.name + ", " : "") + "each byte counted once");
  }
  if (tuning.flops && view.bestNs > 0) {
    claim(claims, showFlops(tuning.flops / view.bestNs * 1e9));
    if (!(tuning.flops <= 8 * tuning.bytes)) claims.unshift(claims.pop());  // memory does not limit it
  }
  if (tuning.default && tuning.default === view.bestText) {
    claim(claims, "The kernel\u2019s default", "is the best: nothing that was tried is faster by more than the noise");
  } else if (trials && tuning.default) {
    // A time of the search is compared with another of the search only.
    const other = trials.rowsOf(tuning.default), kind = view.best.final >= 0 && other.final >= 0 ? "final" : "search";
    const a = trials.median[other[kind]], b = trials.median[view.best[kind]];
    if (a > 0 && b > 0) claim(claims, digits(a / b, 3) + "\u00d7", "as fast as the kernel\u2019s default " + (kind === "final" ? "among the finalists" : "in the search") + " (" + showTime(b) + " against " + showTime(a) + ")");
  }
  if (trials && trials.measured.length > 1 && Number.isFinite(view.bestFirst)) {
    const middle = quantile(ascending(trials.measured.map((row) => trials.objective[row])), 0.5);
    claim(claims, digits(middle / view.bestFirst, 3) + "\u00d7", (view.isTime ? "as fast as" : tuning.kernel.is_larger_better ? "as much as" : "less than") + " the median configuration in the search (" + view.show(view.bestFirst) + " against " + view.show(middle) + ")");
  }
  if (trials && trials.finalists.length > 1 && best && view.isTime) {
    const winner = trials.finalists.find((one) => trials.configuration(one.row) === view.bestText) || trials.finalists[0];
    const ties = trials.finalists.filter((one) => one !== winner && one.low_ns <= winner.high_ns && one.high_ns >= winner.low_ns).length;
    if (ties) claim(claims, plural(ties, "other configuration"), "cannot be distinguished from it by the intervals");
  }
  const why = tuning.verdict;
  if (why && why.limit) claims.unshift(html("li", {}, "Limited by ", html("b", {text: why.limit}), ": " + why.reason, why.counted ? "" : " (by the model, without counters)"));
  if (best && best.checked) claim(claims, "Checked", best.checked.replace(/^host/, "by the host backend").replace(/^compute-/, "by compute-"));
  const text = view.bestNs > 0 ? (view.isTime ? showTime(view.bestNs, 4) : view.show(view.bestFirst)) : "no result", parts = text.split(THIN);
  // In other uses than by itself, a launch that does nothing costs less.
  const floor = view.kernel.objective === "time" && view.bestNs < 5 * device.launch_ns ? "of which " + showTime(device.launch_ns, 3) + " are a launch that does nothing" : "";
  const give = best ? [floor, showInterval(best.median_ns, best.low_ns, best.high_ns), plural(best.samples, "sample") + (!trials ? "" : view.best.final >= 0 ? " as a finalist" : " in the search"), best.reference ? "verified against the " + best.reference : "", best.target ? "for " + best.target : "", best.effort ? "effort " + best.effort : "", when].filter(Boolean).join(", ")
                    : view.bestRow >= 0 ? "the fastest so far; the finalists have not been measured against each other" : "nothing was measured and verified";
  const pairs = best ? best.text.split(" ").filter(Boolean).map((one) => [one.split("=")[0], one.slice(one.indexOf("=") + 1)]) : view.bestRow >= 0 ? trials.parameters.map((one) => [one.name, String(trials.value(one, view.bestRow))]) : [];
  return html("section", {id: "answer", class: "answer" + (pairs.length ? " wide" : ""), "aria-labelledby": "title", tabindex: -1},
    html("div", {},
      html("h1", {id: "title", text: view.kernel.name}),
      html("p", {class: "about", text: problemOf(tuning).replace(/ {2}/g, " \u00b7 ")}),
      html("p", {class: "about", text: device.name + (view.environment.compiler ? " \u00b7 " + view.environment.compiler : "") + (view.kernel.objective === "time" ? "" : " \u00b7 objective " + view.kernel.objective)}),
      html("p", {class: "big"}, parts[0], parts[1] ? html("small", {text: " " + parts[1]}) : ""),
      html("p", {class: "give", text: give}),
      html("ul", {class: "claims"}, ...claims)),
    pairs.length ? html("dl", {class: "chips", "aria-label": "Best configuration"}, ...pairs.map(([name, value]) => html("div", {}, html("dt", {text: name}), html("dd", {text: value})))) : null);
}

// ---- parts --------------------------------------------------------------------------------------------------------

function partOf(id, title, say, ...rest) {
  return html("section", {class: "part", id, "aria-labelledby": id + "-title"}, html("h2", {id: id + "-title", text: title}), say ? html("p", {class: "say", text: say}) : null, ...rest);
}

function choice(name, options, value, change, grow) {
  const select = html("select", {on: {change: () => { change(select.value); remember(); }}}, ...options.map((one) => html("option", {value: one.id, text: one.name, selected: one.id === value})));
  return html("label", {class: grow ? "grow" : null}, name, select);
}

// A picture with its controls, its table and a download. `later` collects work that is done after the answer is shown.
function pictureWith(id, title, picture, controls, later) {
  const place = html("div", {class: "picture"}), rows = html("div");
  let node = null;
  const paint = () => {
    const width = Math.max(240, Math.floor(place.clientWidth));
    node = picture.draw(width);
    place.replaceChildren(node);
    if (details && details.open) tabulate();
  };
  const tabulate = () => {
    const table = picture.table();
    rows.replaceChildren(sortedTable("Data of: " + title, table.columns, table.rows, {mark: table.mark, noun: "row"}).node);
  };
  const details = picture.table ? html("details", {on: {toggle: () => details.open && tabulate()}}, html("summary", {text: "Data table"}), rows) : null;
  const save = html("button", {type: "button", class: "quiet", text: "Download SVG", "aria-label": "Download as SVG: " + title, on: {click: () => downloadPicture(node, id)}});
  later.push({paint, place});
  return {node: partOf(id, title, picture.say, controls ? html("div", {class: "controls"}, ...controls(paint)) : null, place, html("div", {class: "under"}, save, details || html("a", {href: "#trials", text: "Data table: all trials"}))), paint};
}

function roleOf(view, row) {
  const text = view.trials.configuration(row);
  return (text === view.bestText ? ", best" : "") + (text === view.tuning.default ? ", default" : "");
}

function trialsPart(view) {
  const trials = view.trials, columns = [{name: "trial", number: true, key: (row) => row + 1, show: (row) => showCount(row + 1)}];
  const add = (name, key, show, words) => columns.push({name, number: !words, key, show, words: words === "wide"});
  add(view.isTime ? "time" : view.kernel.metric, (row) => (trials.kind[row] === "ok" ? (view.isTime ? trials.median[row] : view.seen(row)) : NaN), (row) => (trials.kind[row] === "ok" ? view.showSeen(view.isTime ? trials.median[row] : view.seen(row)) : ""));
  const half = trials.numbers.get("half_width");
  if (half) add("interval", (row) => half[row], (row) => (half[row] >= 0 ? "\u00b1" + digits(half[row] * 100, 2) + "%" : ""));
  add("outcome", (row) => trials.kind[row], (row) => trials.kind[row] + (trials.marks[row].includes("r") ? ", finalist" : "") + (trials.marks[row].includes("a") ? ", given up" : "") + roleOf(view, row), "words");
  trials.parameters.forEach((one) => add(one.name, (row) => trials.value(one, row), (row) => String(trials.value(one, row)), one.values.every((value) => typeof value === "number") ? null : "words"));
  for (const one of variables(view)) if (!one.values && !["objective", "trial", "half_width", "median_ns"].includes(one.id)) add(one.name, one.get, (row) => (Number.isNaN(one.get(row)) ? "" : one.show(one.get(row))));
  if (view.failed) add("reason", (row) => trials.reason[row], (row) => trials.reason[row], "wide");
  const rows = Array.from({length: trials.count}, (_, row) => row);
  const table = sortedTable("All trials", columns, rows, {by: 1, down: view.kernel.is_larger_better, mark: (row) => row === view.bestRow, noun: "trial"});
  let waiting = 0;
  const apply = () => { state.filter = filter.value; table.keep(rowFilter(filter.value, columns)); remember(); };
  const filter = html("input", {type: "search", id: "filter", placeholder: "time<2ms  " + (trials.parameters[0] ? trials.parameters[0].name + "=" + trials.parameters[0].values[0] : "ok"), value: state.filter, spellcheck: "false", autocomplete: "off",
                                on: {input: () => { clearTimeout(waiting); waiting = setTimeout(apply, 120); }}});
  if (state.filter) table.keep(rowFilter(state.filter, columns));
  return partOf("trials", "All trials", "Click a column\u2019s head to sort. The filter takes NAME=VALUE, NAME<NUMBER, NAME>NUMBER and words; all must match.",
    html("div", {class: "controls"}, html("label", {class: "grow", for: "filter"}, "Filter", filter)), table.node);
}

function facts(pairs) {
  return html("dl", {class: "facts"}, ...pairs.filter((pair) => pair[1]).flatMap(([name, value]) => [html("dt", {text: name}), html("dd", {}, value)]));
}

// The numbers of the verdict, and the guidelines that the best does not follow.
function limitPart(view) {
  const why = view.tuning.verdict, list = (texts) => html("ul", {class: "claims"}, ...texts.map((text) => html("li", {text})));
  const say = !why.limit ? "The stored results do not show it. It takes the best rates of this device, which a tuning stores, or counters (--metrics)."
    : why.limit.charAt(0).toUpperCase() + why.limit.slice(1) + ": " + why.reason + (why.counted ? ", with hardware counters." : ". This is from the model alone: counters (--metrics) show more.");
  return partOf("limit", "What limits it", say, why.numbers.length ? list(why.numbers) : null, why.remarks.length ? html("h3", {text: "Guidelines that it does not follow"}) : null, why.remarks.length ? list(why.remarks) : null);
}

function servedPart(view) {
  const {tuning} = view, served = tuning.served, problem = tuning.sizes.replace(/ /g, ","), choices = tuning.choices.replace(/ /g, ",");
  const sentence = served.tier === "default" ? "No stored result answers a call for this problem: it would run the kernel\u2019s default, or tune."
    : "A stored result answers a call for exactly this problem on this device.";
  const pairs = [["tier", served.tier], ["why", served.reason], ["configuration", served.tier === "default" ? "" : html("code", {text: served.configuration || view.bestText})], ["from", served.database + (served.shipped ? " (shipped)" : "")],
                 ["ask", html("code", {text: "tune show " + view.kernel.name + " --why" + (problem ? " --size " + problem : "") + (choices ? " --choice " + choices : "")})]];
  const parts = [facts(pairs)];
  if (tuning.quarantined) parts.push(html("h3", {text: "Never served here"}), html("ul", {class: "claims"}, ...tuning.quarantined.map(([configuration, reason]) => html("li", {}, html("code", {text: configuration}), " " + reason))));
  return partOf("served", "How it is served", sentence, ...parts);
}

function madePart(view) {
  const {tuning, device, environment} = view, pairs = [];
  for (const one of tuning.sessions) pairs.push([showInstant(one.started), one.strategy + ", seed " + one.seed + ", " + plural(one.trials, "trial") + ", by " + one.origin + (one.finished ? " in " + showSeconds((one.finished - one.started) / 1000) : ", not finished")]);
  pairs.push(["kernel", view.kernel.name + ", source " + view.kernel.source], ["device", html("code", {text: device.key})], ["software", [environment.driver && "driver " + environment.driver, environment.compiler, environment.os, environment.tuner && "tuner " + environment.tuner].filter(Boolean).join(", ")],
             ["measured", tuning.conditions ? html("code", {text: tuning.conditions}) : ""], ["database", tuning.database]);
  return partOf("made", "How it was found", "", facts(pairs));
}

function resultsPart(open) {
  const columns = [
    {name: "kernel", key: (one) => one.kernel.name, show: (one) => html("button", {type: "button", class: "link", text: one.kernel.name, "aria-label": "Show " + one.kernel.name + " " + problemOf(one) + " on " + one.device.name, on: {click: () => choose(one, true)}})},
    {name: "problem", key: problemOf, show: problemOf},
    {name: "device", key: (one) => one.device.name, show: (one) => one.device.name},
    {name: "time", number: true, key: (one) => (one.best ? one.best.median_ns : NaN), show: (one) => (one.best ? showTime(one.best.median_ns, 4) : "")},
    {name: "interval", number: true, key: (one) => (one.best ? (one.best.high_ns - one.best.low_ns) / one.best.median_ns : NaN), show: (one) => (one.best ? showInterval(one.best.median_ns, one.best.low_ns, one.best.high_ns) : "")}];
  if (data.tunings.some((one) => one.bytes)) columns.push({name: "rate", number: true, key: (one) => (one.bytes && one.best ? one.bytes / one.best.median_ns : NaN), show: (one) => (one.bytes && one.best ? showRate(one.bytes / one.best.median_ns * 1e9) : "")});
  if (data.tunings.some((one) => one.trials)) columns.push({name: "trials", number: true, key: (one) => (one.trials ? one.trials.count : 0), show: (one) => (one.trials ? showCount(one.trials.count) : "")});
  columns.push({name: "configuration", key: (one) => (one.best ? one.best.text : ""), show: (one) => (one.best ? one.best.text : "")});
  const table = sortedTable("All results", columns, data.tunings, {page: 12, noun: "result"});
  const filter = html("input", {type: "search", id: "results-filter", spellcheck: "false", autocomplete: "off", on: {input: () => table.keep(rowFilter(filter.value, columns))}});
  const controls = data.tunings.length > 12 ? html("div", {class: "controls"}, html("label", {class: "grow", for: "results-filter"}, "Filter", filter)) : null;
  return partOf("results", "All results", open ? "Choose one to see it above." : "Each can be shown in place of the one above.", controls, table.node);
}

// ---- putting it together ------------------------------------------------------------------------------------------

function choose(tuning, jump) {
  state.tuning = idOf(tuning);
  document.getElementById("shown").value = String(data.tunings.indexOf(tuning));
  show(tuning);
  if (jump) document.getElementById("answer").scrollIntoView(), document.getElementById("answer").focus({preventScroll: true});
  remember();
}

function show(tuning) {
  const view = look(tuning), later = [], parts = [answerPart(view)], trials = view.trials;
  document.title = view.kernel.name + " \u2013 tuner report";
  if (trials && trials.measured.length > 1) {
    const varied = view.ranking.filter((one) => one.values > 1);
    const segment = (paint) => [choice("over", [{id: "trials", name: "trials"}, {id: "time", name: "time of tuning"}], state.over, (value) => { state.over = value; paint(); })];
    parts.push(pictureWith("progress", "Best so far", progressPicture(view, state), segment, later).node);
    const scatter = scatterPicture(view, state), has = (id) => scatter.choices.some((one) => one.id === id);
    if (!has(state.x)) state.x = varied.length ? "p " + varied[0].parameter.name : "trial";
    if (!has(state.y)) state.y = "objective";
    if (!has(state.colour)) state.colour = varied.length > 1 ? "p " + varied[1].parameter.name : "trial";
    const axis = (name, key) => (paint) => choice(name, scatter.choices, state[key], (value) => { state[key] = value; paint(); });
    parts.push(pictureWith("every", "Every configuration", scatter, (paint) => [axis("across", "x")(paint), axis("up", "y")(paint), axis("colour", "colour")(paint)], later).node);
    const pair = [];
    if (varied.length) pair.push(pictureWith("importance", "What matters", importancePicture(view), null, later).node);
    if (trials.finalists.length) pair.push(pictureWith("finalists", trials.finalists[0].again ? "Finalists" : "The fastest", finalistsPicture(view), null, later).node);
    parts.push(html("div", {class: "pair"}, ...pair));
    const second = [];
    if (varied.length > 1) {
      const heat = heatPicture(view, state), names = heat.choices.map((one) => ({id: one.name, name: one.name})), has2 = (name) => names.some((one) => one.id === name);
      if (!has2(state.a)) state.a = varied[0].parameter.name;
      if (!has2(state.b) || state.b === state.a) state.b = varied.map((one) => one.parameter.name).find((name) => name !== state.a);
      const pick = (name, key) => (paint) => choice(name, names, state[key], (value) => { state[key] = value; paint(); });
      second.push(pictureWith("heatmap", "Two parameters", heat, (paint) => [pick("across", "a")(paint), pick("up", "b")(paint), choice("shows", [{id: "best", name: "best"}, {id: "median", name: "median"}], state.how, (value) => { state.how = value; paint(); })], later).node);
    }
    const energies = tradeOffRows(trials);
    if (energies.length > 1) second.push(pictureWith("pareto", "Time against energy", paretoPicture(view, energies), null, later).node);
    if (tuning.bytes && tuning.flops && view.isTime) second.push(pictureWith("roofline", "Roofline", rooflinePicture(view), null, later).node);
    for (let i = 0; i < second.length; i += 2) parts.push(i + 1 < second.length ? html("div", {class: "pair"}, second[i], second[i + 1]) : second[i]);
  }
  if (trials && view.failed) parts.push(pictureWith("failures", "Failures", failuresPicture(view), null, later).node);
  if (trials) parts.push({later: () => trialsPart(view)});
  if (tuning.verdict) parts.push(limitPart(view));
  parts.push(servedPart(view), madePart(view));
  if (data.tunings.length > 1) parts.splice(trials ? parts.length : 1, 0, resultsPart(!trials));
  // The answer is painted first. The slow parts follow, one after the other.
  const main = document.getElementById("main");
  main.replaceChildren(...parts.filter(Boolean).map((one) => {
    if (!one.later) return one;
    const place = html("section", {class: "part"});
    later.push({paint: () => { if (place.isConnected) place.replaceWith(one.later()); }, once: true});
    return place;
  }));
  redraw = later;
  paintAll(redraw.slice(), () => {
    redraw = redraw.filter((one) => !one.once);
    document.documentElement.setAttribute("data-drawn", "true");
    if (state.scroll > 0 && restoring) scrollTo({top: state.scroll, behavior: "instant"});
    restoring = false;
  });
}

let restoring = false, turn = 0;
function paintAll(list, done) {
  const mine = ++turn;
  document.documentElement.removeAttribute("data-drawn");
  const next = () => {
    if (mine !== turn) return;
    if (!list.length) return done && done();
    list.shift().paint();
    setTimeout(next);
  };
  requestAnimationFrame(() => setTimeout(next));
}

function repaint() { paintAll(redraw.slice(), () => document.documentElement.setAttribute("data-drawn", "true")); }

function setTheme(theme) {
  state.theme = theme;
  document.documentElement.setAttribute("data-theme", theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  const button = document.getElementById("theme");
  button.textContent = isDark() ? "Light" : "Dark";
  button.setAttribute("aria-label", isDark() ? "Change to the light colours" : "Change to the dark colours");
}

function begin() {
  restoring = true;
  history.scrollRestoration = "manual";
  document.getElementById("theme").addEventListener("click", () => { setTheme(isDark() ? "light" : "dark"); repaint(); remember(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { setTheme(state.theme); repaint(); });
  const list = document.getElementById("shown");
  data.tunings.forEach((one, i) => list.append(html("option", {value: String(i), text: [one.kernel.name, problemOf(one), one.device.name].join(", ")})));
  list.addEventListener("change", () => choose(data.tunings[Number(list.value)]));
  document.getElementById("chooser").hidden = data.tunings.length < 2;
  document.getElementById("end").textContent = "Made by tuner " + data.tuner + " on " + showInstant(data.made) + (data.databases.length ? " from " + data.databases.join(", ") : "") + ". Times are medians with 95% intervals.";
  if (!data.tunings.length) {
    document.getElementById("main").replaceChildren(html("section", {class: "answer", id: "answer"}, html("h1", {text: "There are no results yet"}), html("p", {class: "about", text: "tune KERNEL makes some."})));
    document.documentElement.setAttribute("data-drawn", "true");
  } else {
    const kept = data.tunings.find((one) => idOf(one) === state.tuning) || data.tunings[0];
    list.value = String(data.tunings.indexOf(kept));
    show(kept);
  }
  let wide = innerWidth, waiting = 0;
  addEventListener("resize", () => {
    if (innerWidth === wide) return;
    wide = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(repaint, 150);
  });
  addEventListener("pagehide", remember);
}
recall();
setTheme(state.theme);  // before the first paint
read().then(begin, (error) => {
  document.getElementById("main").textContent = "This page needs a browser of 2023 or newer (DecompressionStream): " + error.message;
});
