// The pictures of one tuning. Each function gives {draw(width), table(), say}, drawn again when the width changes.

// The text for a point of a picture.
function trialLines(view, row) {
  const trials = view.trials, lines = [];
  const failed = trials.kind[row] !== "ok", half = (trials.numbers.get("half_width") || [])[row];
  lines.push(failed ? trials.kind[row] + ": failed" : view.show(view.value(row)) + (view.isTime && half >= 0 ? " \u00b1" + digits(half * 100, 2) + "%" : ""));
  if (failed) lines.push(trials.reason[row]);
  else if (!trials.marks[row].includes("v")) lines.push("not verified");
  if (!failed && view.isTime && view.tuning.bytes) lines.push(showRate(view.tuning.bytes / trials.median[row] * 1e9));
  lines.push(trials.configuration(row));
  lines.push("trial " + showCount(row + 1));
  return lines;
}

// Everything that can be an axis or a colour.
function variables(view) {
  const trials = view.trials, list = [];
  const add = (id, name, get, show, extra) => list.push({id, name, get, show, ...extra});
  add("objective", view.isTime ? "time" : view.kernel.metric, (row) => view.seen(row), (v) => view.showSeen(v), {log: true});
  if (view.tuning.bytes && view.isTime) add("rate", "rate", (row) => view.tuning.bytes / view.value(row) * 1e9, showRate);
  trials.parameters.forEach((parameter) => {
    if (parameter.values.length > 1) add("p " + parameter.name, parameter.name, (row) => parameter.places[row], (i) => String(parameter.values[i]), {values: parameter.values});
  });
  add("trial", "trial", (row) => row + 1, showCount);
  const more = {at_s: ["time of tuning", showSeconds], registers: ["registers", showNumber], occupancy: ["theoretical occupancy", showPercent],
                blocks_per_sm: ["resident blocks", showNumber], spill_bytes: ["spill", showBytes], shared_bytes: ["static shared memory", showBytes],
                half_width: ["interval, half width", showPercent], samples: ["samples", showNumber], clock_mhz: ["SM clock", (v) => showNumber(Math.round(v)) + THIN + "MHz"],
                seconds: ["cost of the trial", showSeconds]};
  for (const [name, column] of trials.numbers) {
    if (name === "median_ns" && view.isTime) continue;
    if (column.every((value) => !(value !== column[0]) || Number.isNaN(value))) continue;  // a column with one value is useless
    const known = name === "median_ns" ? ["time", (v) => showTime(v)] : more[name] || [name.replace(/^metric /, ""), showerOf(name.replace(/^metric /, ""))];
    add(name, known[0], (row) => column[row], known[1], {log: name === "median_ns"});
  }
  return list;
}

function scaleOf(variable, rows) {
  if (variable.values) return bandScale(variable.values);
  let low = Infinity, high = -Infinity;
  for (const row of rows) {
    const value = variable.get(row);
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) low = 0, high = 1;
  const log = variable.log && low > 0 && high > 4 * low, pad = (high - low) * 0.03;
  if (log) return numberScale(low / 1.06, high * 1.06, (v) => variable.show(v), true);
  return numberScale(low >= 0 && low < 0.25 * high ? 0 : low - pad, high + pad, (v) => variable.show(v));
}

// ---- best so far --------------------------------------------------------------------------------------------------

function progressPicture(view, state) {
  const trials = view.trials, rows = trials.first, n = rows.length;
  const values = rows.map((row) => trials.objective[row]), best = bestSoFar(values);
  const sorted = ascending(values.filter(Number.isFinite)), goal = sorted[0] * 1.01;
  const at = trials.numbers.get("at_s"), overTime = () => state.over === "time" && at;
  const place = (k) => (overTime() ? at[rows[k - 1]] : k);
  const bestAt = values.indexOf(sorted[0]), nearAt = best.findIndex((value) => value <= goal);
  // The curve of random draws is computed at every early draw, then at fewer and fewer.
  const ks = [];
  for (let k = 1; k <= n; k = Math.max(k + 1, Math.floor(k * 1.06))) ks.push(k);
  if (ks[ks.length - 1] !== n) ks.push(n);
  const random = ks.map((k) => ({k, ...bestOfDraws(sorted, n, k)})).filter((one) => Number.isFinite(one.mean));
  const draws = drawsUntil(sorted, n, goal);
  const say = "The best one of the search came as trial " + showCount(bestAt + 1) + " of " + showCount(n) + (at ? ", after " + showSeconds(at[rows[bestAt]]) : "") +
    "; within 1% of it at trial " + showCount(nearAt + 1) + ". " +
    (draws ? "Drawing at random from the same " + showCount(n) + " configurations gets there after " + plural(draws, "draw") + " on average." : "") +
    (view.exhaustive ? "" : " A search tries mostly good ones, so random draws from what it tried look better than they are.");
  const draw = (width) => {
    const names = [{text: view.exhaustive ? "all, in order" : "this search", line: "search"}, {text: "random draws, expected", line: "random"}, {text: "random, 10 to 90%", area: "range"}];
    const first = best.findIndex(Number.isFinite), high = Math.max(best[first], random[0].mean) * 1.04, low = sorted[0] / 1.02;
    const f = frame(width, Math.round(Math.min(380, 250 + width * 0.12)),
                    numberScale(overTime() ? 0 : 1, overTime() ? at[rows[n - 1]] : n, overTime() ? showSeconds : showCount),
                    numberScale(low, high, (v) => view.show(v), high > 4 * low),
                    {x: overTime() ? "time of tuning" : "trials", y: "best so far"}, names);
    const clamp = (y) => round(Math.max(f.top, f.y(y)));
    let area = "", back = "";
    for (const one of random) {
      const x = round(f.x(place(one.k)));
      area += (area ? "L" : "M") + x + "," + clamp(Math.min(one.high, high));
      back = "L" + x + "," + clamp(one.low) + back;
    }
    f.node.append(svg("path", {class: "range", d: area + back + "Z"}));
    f.node.append(svg("path", {class: "random", d: random.map((one, i) => (i ? "L" : "M") + round(f.x(place(one.k))) + "," + clamp(one.mean)).join("")}));
    let path = "";
    best.forEach((value, i) => {
      if (!Number.isFinite(value) || (path && value === best[i - 1] && i !== n - 1)) return;
      const x = round(f.x(place(i + 1)));
      path += path ? "H" + x + "V" + round(f.y(value)) : "M" + x + "," + round(f.y(value));
    });
    f.node.append(svg("path", {class: "search", d: path}), svg("circle", {class: "ring", r: 6, cx: round(f.x(place(bestAt + 1))), cy: round(f.y(sorted[0]))}));
    const points = [];
    best.forEach((value, i) => {
      if (Number.isFinite(value) && value !== best[i - 1]) points.push({x: f.x(place(i + 1)), y: f.y(value), lines: () => trialLines(view, rows[i])});
    });
    return explore(f.node, points, "Best so far. " + say);
  };
  const table = () => {
    const steps = best.map((value, i) => i).filter((i) => Number.isFinite(best[i]) && best[i] !== best[i - 1]);
    return {columns: [{name: "trial", number: true, key: (i) => i + 1, show: (i) => showCount(i + 1)},
                      {name: "after", number: true, key: (i) => (at ? at[rows[i]] : i), show: (i) => (at ? showSeconds(at[rows[i]]) : "")},
                      {name: "best so far", number: true, key: (i) => best[i], show: (i) => view.show(best[i])},
                      {name: "random, expected", number: true, key: (i) => bestOfDraws(sorted, n, i + 1).mean, show: (i) => view.show(bestOfDraws(sorted, n, i + 1).mean)},
                      {name: "configuration", words: true, key: (i) => trials.configuration(rows[i]), show: (i) => trials.configuration(rows[i])}], rows: steps};
  };
  return {draw, table, say};
}

// ---- all trials --------------------------------------------------------------------------------------------------

function scatterPicture(view, state) {
  const trials = view.trials, all = variables(view);
  const find = (id, other) => all.find((one) => one.id === id) || all.find((one) => one.id === other) || all[0];
  const jitter = (row) => ((row * 0.6180339887) % 1 - 0.5) * 0.62;
  const say = plural(trials.first.length, "point") + ", one for each configuration tried" +
    (view.failed ? "; failed ones are above the axis." : ".");
  const draw = (width) => {
    const x = find(state.x, "p " + view.ranking[0].parameter.name), y = find(state.y, "objective"), c = find(state.colour, "trial");
    const rows = trials.first.filter((row) => !Number.isNaN(x.get(row)));
    const shades = c.values ? c.values.length : 8, ordered = !c.values || c.values.every((value) => typeof value === "number");
    const cs = c.values ? null : scaleOf(c, rows.filter((row) => !Number.isNaN(c.get(row))));
    const binOf = (row) => {
      const value = c.get(row);
      if (Number.isNaN(value)) return -1;
      return c.values ? value : Math.min(shades - 1, Math.max(0, Math.floor(cs.place(value) * shades)));
    };
    const colour = (bin) => (bin < 0 ? "var(--soft)" : ordered ? shade(shades > 1 ? bin / (shades - 1) : 1, 0.16, isDark() ? 1 : 0.96).css : hue(bin));
    const entries = [];
    if (c.values && shades <= 12) c.values.forEach((value, i) => entries.push({text: (i ? "" : c.name + " ") + value, colour: colour(i)}));
    else if (c.values) [0, Math.floor(shades / 2), shades - 1].forEach((i, k) => entries.push({text: (k ? "" : c.name + " ") + c.values[i], colour: colour(i)}));
    else [0, 3, 7].forEach((bin, k) => {
      const share = bin / 7, value = cs.log ? cs.low * Math.pow(cs.high / cs.low, share) : cs.low + share * (cs.high - cs.low);
      entries.push({text: (k ? "" : c.name + " ") + plain(c.show(c.id === "trial" ? Math.max(1, Math.round(value)) : value)), colour: colour(bin)});
    });
    if (view.bestRow >= 0) entries.push({text: "best", ring: true});
    if (x.values && !y.values && x.values.length < 40) entries.push({text: "median", line: "middle"});
    const strip = view.failed && rows.some((row) => Number.isNaN(y.get(row))) ? 26 : 0;
    const f = frame(width, Math.round(Math.min(460, 280 + width * 0.16)), scaleOf(x, rows), scaleOf(y, rows.filter((row) => !Number.isNaN(y.get(row)))),
                    {x: x.name, y: y.name}, entries, strip);
    const wide = x.values ? (f.right - f.left) / x.values.length : 0, high = y.values ? (f.bottom - f.top) / y.values.length : 0;
    const bins = new Map(), points = [];
    for (const row of rows) {
      const value = y.get(row), none = Number.isNaN(value), bin = none ? -1 : binOf(row);
      const point = {x: f.x(x.get(row)) + jitter(row) * wide, y: none ? f.top - 22 - ((row * 0.7548776662) % 1) * 12 : f.y(value) + jitter(row * 3 + 1) * high, lines: () => trialLines(view, row), row};
      if (!bins.has(bin)) bins.set(bin, []);
      bins.get(bin).push(point);
      points.push(point);
    }
    const size = rows.length > 3000 ? 3.2 : rows.length > 600 ? 4.4 : 6;
    for (const bin of [...bins.keys()].sort((a, b) => a - b)) f.node.append(dots(bins.get(bin), colour(bin), bin < 0 ? Math.min(size, 3.4) : size, rows.length > 600 ? 0.72 : 0.88));
    if (strip) f.node.append(label(f.right, f.top - 38, "failed", {"text-anchor": "end"}));
    if (x.values && !y.values && x.values.length < 40) x.values.forEach((_, i) => {
      const middle = quantile(ascending(rows.filter((row) => x.get(row) === i && !Number.isNaN(y.get(row))).map(y.get)), 0.5);
      if (Number.isFinite(middle)) f.node.append(svg("line", {class: "middle", x1: round(f.x(i) - wide * 0.36), x2: round(f.x(i) + wide * 0.36), y1: round(f.y(middle)), y2: round(f.y(middle))}));
    });
    const winner = points.find((point) => point.row === view.bestRow);
    if (winner) f.node.append(svg("circle", {class: "ring", r: 7, cx: round(winner.x), cy: round(winner.y)}));
    return explore(f.node, points, "Every configuration: " + y.name + " over " + x.name + ", coloured by " + c.name + ".");
  };
  return {draw, say, choices: all, table: null};
}

// ---- importance ---------------------------------------------------------------------------------------------------

function importancePicture(view) {
  const ranking = view.ranking.filter((one) => one.values > 1), sum = ranking.reduce((all, one) => all + one.share, 0);
  const trials = view.trials, rows = trials.measured;
  const say = "The share of the variance of log " + (view.isTime ? "time" : view.kernel.metric) + " that lies between the means of a parameter's values, over " +
    plural(rows.length, "measured configuration") + ": a first-order functional ANOVA, corrected for chance." +
    (sum < 0.985 ? " The other " + showPercent(1 - sum, 2) + " are combinations of parameters and noise." : "") +
    (view.exhaustive ? "" : " A search does not try values evenly, so read it as a hint.");
  // The least cost of any other value than the winner's.
  const cost = (parameter) => {
    if (view.bestRow < 0) return NaN;
    const place = parameter.places[view.bestRow];
    let least = Infinity;
    for (const row of rows) if (parameter.places[row] !== place && trials.objective[row] < least) least = trials.objective[row];
    return least / view.bestFirst - 1;
  };
  const draw = (width) => barRows(width, ranking.map((one) => ({
    name: one.parameter.name, share: one.share / Math.max(ranking[0].share, 1e-9), text: one.share < 0.001 ? "<0.1%" : showPercent(one.share, 2),
    lines: () => [one.parameter.name + ": " + showPercent(one.share), plural(one.values, "value") + " tried"]})), "What matters. " + say);
  const table = () => ({columns: [
    {name: "parameter", key: (one) => one.parameter.name, show: (one) => one.parameter.name},
    {name: "share", number: true, key: (one) => one.share, show: (one) => showPercent(one.share)},
    {name: "values tried", number: true, key: (one) => one.values, show: (one) => String(one.values)},
    {name: "best value", key: (one) => (view.bestRow < 0 ? "" : trials.value(one.parameter, view.bestRow)), show: (one) => (view.bestRow < 0 ? "" : String(trials.value(one.parameter, view.bestRow)))},
    {name: "cost of another value", number: true, key: (one) => cost(one.parameter), show: (one) => (Number.isFinite(cost(one.parameter)) ? (cost(one.parameter) < 0 ? "\u2212" : "+") + digits(Math.abs(cost(one.parameter)) * 100, 2) + "%" : "")}], rows: ranking});
  return {draw, table, say};
}

// Names with bars. In a narrow picture, the name is above its bar.
function barRows(width, rows, name) {
  const names = rows.map((row) => textWidth(row.name)), values = Math.max(...rows.map((row) => textWidth(row.text, 600))) + 10;
  const above = Math.max(...names) > width * 0.36, left = above ? 0 : Math.ceil(Math.max(...names)) + 14, step = above ? 42 : 30;
  const height = rows.length * step + 4, node = svg("svg", {viewBox: "0 0 " + width + " " + height, width, height});
  const points = rows.map((row, i) => {
    const y = i * step + (above ? 22 : 8), full = width - left - values;
    node.append(above ? label(0, y - 8, shorten(row.name, width), {class: "name"}) : label(left - 14, y + 11, row.name, {class: "name", "text-anchor": "end"}));
    node.append(svg("rect", {class: "rail", x: left, y, width: round(full), height: 14, rx: 3}),
                svg("rect", {class: row.kind || "bars", x: left, y, width: round(Math.max(2, full * row.share)), height: 14, rx: 3}),
                label(left + full * row.share + 8, y + 11, row.text, {class: "strong"}));
    return {x: left + Math.max(2, full * row.share), y: y + 7, lines: row.lines};
  });
  return explore(node, points, name);
}

// ---- two parameters -----------------------------------------------------------------------------------------------

function heatPicture(view, state) {
  const trials = view.trials, usable = trials.parameters.filter((one) => one.values.length > 1);
  const pick = (id, i) => usable.find((one) => one.name === id) || view.ranking.filter((one) => one.values > 1)[i].parameter;
  const both = () => {
    const a = pick(state.a, 0);
    let b = pick(state.b, 1);
    if (a === b) b = usable.find((one) => one !== a);
    return {a, b, cells: pairCells(trials, a, b, state.how)};
  };
  const say = "Every combination of two parameters, for any values of the others.";
  const draw = (width) => {
    const {a, b, cells} = both(), known = ascending(cells.flat().filter(Number.isFinite));
    const low = known[0], high = known[known.length - 1], scale = numberScale(low, high, view.show, true);
    const shareOf = (value) => (high > low ? 1 - scale.place(value) : 1);
    const ys = b.values.map((value) => textWidth(String(value))), left = Math.ceil(Math.min(width * 0.3, Math.max(...ys, 20))) + 10;
    const cellWidth = Math.min(120, (width - left) / a.values.length), cellHeight = Math.max(18, Math.min(40, 420 / b.values.length));
    const top = 62, height = top + cellHeight * b.values.length + 46, node = svg("svg", {viewBox: "0 0 " + width + " " + height, width, height});
    // The key, from the slowest to the fastest.
    const keyWidth = Math.min(180, width * 0.4);
    for (let i = 0; i < 24; ++i) node.append(svg("rect", {x: round(i * keyWidth / 24), y: 0, width: round(keyWidth / 24 + 0.6), height: 10, fill: shade(1 - i / 23, 0.04, 0.96).css}));
    node.append(label(0, 24, plain(view.show(low))), label(keyWidth, 24, plain(view.show(high)), {"text-anchor": "end"}));
    node.append(label(keyWidth + 14, 10, state.how === "best" ? "best" : "median"));
    node.append(label(0, 50, shorten(b.name, width), {class: "name"}));
    const points = [], every = Math.ceil(Math.max(...a.values.map((value) => textWidth(String(value)) + 8)) / cellWidth);
    b.values.forEach((value, j) => node.append(label(left - 8, top + (b.values.length - 1 - j + 0.5) * cellHeight + 4, shorten(String(value), left - 10), {"text-anchor": "end"})));
    a.values.forEach((value, i) => {
      if (i % every === 0) node.append(label(left + (i + 0.5) * cellWidth, height - 28, shorten(String(value), cellWidth * every), {"text-anchor": "middle"}));
      b.values.forEach((other, j) => {
        const cell = cells[j][i], x = left + i * cellWidth, y = top + (b.values.length - 1 - j) * cellHeight;
        if (!Number.isFinite(cell)) {
          node.append(svg("rect", {class: "rail", x: round(x + 1), y: round(y + 1), width: round(cellWidth - 2), height: round(cellHeight - 2), rx: 2}));
          return;
        }
        const fill = shade(shareOf(cell), 0.04, 0.96), text = plain(view.show(cell));
        node.append(svg("rect", {x: round(x + 1), y: round(y + 1), width: round(cellWidth - 2), height: round(cellHeight - 2), rx: 2, fill: fill.css}));
        if (textWidth(text) < cellWidth - 8) node.append(svg("text", {x: round(x + cellWidth / 2), y: round(y + cellHeight / 2 + 4), text, "text-anchor": "middle", class: fill.dark ? "on-dark" : "on-light"}));
        points.push({x: x + cellWidth / 2, y: y + cellHeight / 2, lines: () => [view.show(cell) + " (" + state.how + ")", a.name + "=" + value, b.name + "=" + other]});
      });
    });
    node.append(label(left + a.values.length * cellWidth / 2, height - 6, a.name, {class: "name", "text-anchor": "middle"}));
    return explore(node, points, "The " + state.how + " for each pair of " + a.name + " and " + b.name + ".");
  };
  const table = () => {
    const {a, b, cells} = both();
    return {columns: [{name: b.name + " \\ " + a.name, key: (j) => b.values[j], show: (j) => String(b.values[j])},
                      ...a.values.map((value, i) => ({name: String(value), number: true, key: (j) => cells[j][i], show: (j) => (Number.isFinite(cells[j][i]) ? view.show(cells[j][i]) : "")}))],
            rows: b.values.map((_, j) => j)};
  };
  return {draw, table, say, choices: usable};
}

// ---- finalists ----------------------------------------------------------------------------------------------------

// Name and value of the parameters that `wanted` names, in the configuration of `row`.
function partOfConfiguration(trials, row, wanted) {
  return trials.parameters.filter(wanted).map((one) => one.name + "=" + trials.value(one, row)).join(" ");
}

function finalistsPicture(view) {
  const list = view.trials.finalists, again = list[0].again;
  const winner = list.find((one) => view.trials.configuration(one.row) === view.bestText) || list[0];
  const shared = (parameter) => list.every((one) => parameter.places[one.row] === parameter.places[winner.row]);
  const common = partOfConfiguration(view.trials, winner.row, shared);
  const nameOf = (one) => (one === winner ? "best \u00b7 " + partOfConfiguration(view.trials, one.row, (parameter) => list.length < 2 || !shared(parameter))
    : partOfConfiguration(view.trials, one.row, (parameter) => parameter.places[one.row] !== parameter.places[winner.row]));
  const ties = list.filter((one) => one !== winner && one.low_ns <= winner.high_ns && one.high_ns >= winner.low_ns).length;
  const say = (again ? plural(list.length, "configuration") + " measured again, side by side, so that a change of clocks hits all alike. " : "The fastest " + list.length + "; none was measured again. ") +
    (ties ? "The intervals of " + (ties === 1 ? "one" : ties) + " overlap the winner\u2019s: they cannot be distinguished. " : list.length > 1 ? "The winner\u2019s interval is clear of all others. " : "") +
    (list.length > 1 ? "Each is named by its differences from the best" + (common ? "; all have " + common : "") + "." : "");
  const draw = (width) => {
    const step = 40, top = 8, bottom = top + list.length * step, height = bottom + 46, node = svg("svg", {viewBox: "0 0 " + width + " " + height, width, height});
    const low = Math.min(...list.map((one) => one.low_ns)), high = Math.max(...list.map((one) => one.high_ns)), pad = (high - low) * 0.06 || low * 0.01;
    // Enough digits that two ticks differ.
    const count = Math.max(2, Math.min(6, Math.floor(width / 90))), ticks = roundTicks(low - pad, high + pad, count);
    const need = ticks.length > 1 ? Math.ceil(Math.log10(ticks[ticks.length - 1] / (ticks[1] - ticks[0]))) + 1 : 3;
    const scale = numberScale(low - pad, high + pad, (v) => showTime(v, Math.max(3, need)));
    const x = (v) => 8 + scale.place(v) * (width - 16);
    for (const tick of ticks) {
      const text = plain(scale.show(tick)), half = textWidth(text) / 2;
      node.append(svg("line", {class: "grid", x1: round(x(tick)), x2: round(x(tick)), y1: top, y2: bottom}),
                  label(Math.min(Math.max(x(tick), half), width - half), bottom + 18, text, {"text-anchor": "middle"}));
    }
    node.append(svg("rect", {class: "reach", x: round(x(winner.low_ns)), width: round(Math.max(1, x(winner.high_ns) - x(winner.low_ns))), y: top, height: bottom - top}));
    node.append(svg("line", {class: "axis", x1: 0, x2: width, y1: bottom, y2: bottom}), label(width / 2, height - 5, "median time and its 95% interval", {"text-anchor": "middle", class: "name"}));
    const points = list.map((one, i) => {
      const y = top + i * step + 29, first = one === winner, mark = first ? " first" : "";
      node.append(label(0, y - 12, shorten(nameOf(one), width - 4, first ? 600 : 400), {class: first ? "strong halo" : "name halo"}));
      node.append(svg("path", {class: "whisker" + mark, d: "M" + round(x(one.low_ns)) + "," + y + "H" + round(x(one.high_ns)) + "M" + round(x(one.low_ns)) + "," + (y - 4) + "v8M" + round(x(one.high_ns)) + "," + (y - 4) + "v8"}),
                  svg("circle", {class: "dot" + mark, cx: round(x(one.median_ns)), cy: y, r: 4.5}));
      return {x: x(one.median_ns), y, lines: () => [showTime(one.median_ns, 5) + " " + showInterval(one.median_ns, one.low_ns, one.high_ns), showTime(one.low_ns, 5) + " to " + showTime(one.high_ns, 5), view.trials.configuration(one.row)]};
    });
    return explore(node, points, "Finalists. " + say);
  };
  const table = () => ({columns: [
    {name: "median", number: true, key: (one) => one.median_ns, show: (one) => showTime(one.median_ns, 5)},
    {name: "from", number: true, key: (one) => one.low_ns, show: (one) => showTime(one.low_ns, 5)},
    {name: "to", number: true, key: (one) => one.high_ns, show: (one) => showTime(one.high_ns, 5)},
    {name: "slower", number: true, key: (one) => one.median_ns, show: (one) => { const slower = one.median_ns / list[0].median_ns - 1; return slower > 0 ? "+" + digits(slower * 100, 2) + "%" : ""; }},
    {name: "samples", number: true, key: (one) => one.samples, show: (one) => String(one.samples)},
    {name: "configuration", words: true, key: (one) => view.trials.configuration(one.row), show: (one) => view.trials.configuration(one.row)}],
    rows: list, mark: (one) => one === winner});
  return {draw, table, say};
}

// ---- time against energy ------------------------------------------------------------------------------------------

// The latest row of each configuration that can win and has both.
function tradeOffRows(trials) {
  const energy = trials.numbers.get("metric energy"), latest = new Map();
  if (!energy) return [];
  for (let row = 0; row < trials.count; ++row)
    if (trials.kind[row] === "ok" && trials.marks[row].includes("v") && trials.median[row] > 0 && energy[row] > 0) latest.set(trials.configuration(row), row);
  return [...latest.values()];
}

// The rows that no other row equals or beats in both, fastest first.
function frontOf(rows, time, energy) {
  const front = [];
  for (const row of rows.slice().sort((a, b) => time[a] - time[b] || energy[a] - energy[b]))
    if (!front.length || energy[row] < energy[front[front.length - 1]]) front.push(row);
  return front;
}

function paretoPicture(view, rows) {
  const trials = view.trials, time = trials.median, energy = trials.numbers.get("metric energy");
  const front = frontOf(rows, time, energy), first = front[0], last = front[front.length - 1], on = new Set(front);
  const say = (front.length === 1 ? "The fastest of " + plural(rows.length, "configuration") + " takes the least energy too: " + showTime(time[first]) + " and " + showJoules(energy[first]) + " a run."
    : plural(front.length, "configuration") + " of " + showCount(rows.length) + " are not beaten in both: from " + showTime(time[first]) + " and " + showJoules(energy[first]) + " a run to " +
      showPercent(1 - energy[last] / energy[first], 2) + " less energy in " + showPercent(time[last] / time[first] - 1, 2) + " more time.") + " Energy is the whole card\u2019s.";
  const lines = (row) => [showTime(time[row]) + ", " + showJoules(energy[row]) + ", " + digits(energy[row] / time[row] * 1e9, 3) + THIN + "W", on.has(row) ? "on the front" : "beaten in both", trials.configuration(row)];
  const draw = (width) => {
    const names = [{text: "beaten in both", colour: shade(0.45).css}, {text: "front", line: "search"}, {text: "fastest", ring: true}];
    const span = (values, show) => {
      const low = values.reduce((a, b) => Math.min(a, b)), high = values.reduce((a, b) => Math.max(a, b));
      const need = high > low && high > 0 ? Math.min(7, Math.max(3, Math.ceil(Math.log10(high / (high - low))) + 2)) : 3;  // digits that distinguish two ticks
      return high > 4 * low ? numberScale(low / 1.06, high * 1.06, (v) => show(v), true) : numberScale(low - (high - low) * 0.05, high + (high - low) * 0.05, (v) => show(v, need));
    };
    const f = frame(width, 330, span(rows.map((row) => time[row]), showTime), span(rows.map((row) => energy[row]), showJoules), {x: "time", y: "energy of a run"}, names);
    const points = rows.map((row) => ({x: f.x(time[row]), y: f.y(energy[row]), row, lines: () => lines(row)}));
    f.node.append(dots(points.filter((point) => !on.has(point.row)), shade(0.45).css, 5, 0.7));
    const path = front.map((row, i) => (i ? "H" + round(f.x(time[row])) + "V" + round(f.y(energy[row])) : "M" + round(f.x(time[row])) + "," + round(f.y(energy[row])))).join("");
    if (front.length > 1) f.node.append(svg("path", {class: "search", d: path}));
    for (const row of front) f.node.append(svg("circle", {class: "dot", cx: round(f.x(time[row])), cy: round(f.y(energy[row])), r: 4}));
    f.node.append(svg("circle", {class: "ring", cx: round(f.x(time[first])), cy: round(f.y(energy[first])), r: 7}));
    return explore(f.node, points, "Time against energy. " + say);
  };
  const table = () => ({columns: [
    {name: "time", number: true, key: (row) => time[row], show: (row) => showTime(time[row], 4)},
    {name: "energy", number: true, key: (row) => energy[row], show: (row) => showJoules(energy[row])},
    {name: "power", number: true, key: (row) => energy[row] / time[row], show: (row) => digits(energy[row] / time[row] * 1e9, 3) + THIN + "W"},
    {name: "front", key: (row) => (on.has(row) ? "yes" : ""), show: (row) => (on.has(row) ? "yes" : "")},
    {name: "configuration", words: true, key: (row) => trials.configuration(row), show: (row) => trials.configuration(row)}],
    rows: [...front, ...rows.filter((row) => !on.has(row))], mark: (row) => on.has(row)});
  return {draw, table, say};
}

// ---- roofline -----------------------------------------------------------------------------------------------------

function rooflinePicture(view) {
  const {tuning, device, trials} = view, intensity = tuning.flops / tuning.bytes, rate = (ns) => tuning.flops / ns * 1e9;
  const own = memoryCeiling(tuning, device), memory = own.rate ? [[own.name, own.rate]] : [];
  const others = view.all.filter((one) => one !== tuning && one.device.key === device.key && one.bytes && one.flops && one.best && one.kernel.is_time);
  const best = rate(view.bestNs), fastest = own.rate;
  const limit = tuning.arithmetic_ceiling && fastest ? Math.min(tuning.arithmetic_ceiling, fastest * intensity) : fastest * intensity;
  const say = "The kernel does " + digits(intensity, 3) + " FLOP for each byte that it has to move; the best configuration reaches " + showFlops(best) +
    (limit ? ", " + showPercent(best / limit) + " of what " + (tuning.arithmetic_ceiling && tuning.arithmetic_ceiling < fastest * intensity ? "this device\u2019s arithmetic" : "memory") + " allows there." : ". No ceiling of this device is stored.");
  const draw = (width) => {
    const names = [{text: "trials", colour: shade(0.45).css}, {text: "best", ring: true}];
    if (others.length) names.push({text: "best of other results on this device", dot: "other"});
    const xs = [intensity, ...others.map((one) => one.flops / one.bytes)], rates = trials ? trials.measured.map((row) => rate(trials.median[row])) : [];
    const ys = [best, ...rates, ...others.map((one) => one.flops / one.best.median_ns * 1e9)];
    if (limit) ys.push(limit);
    if (tuning.arithmetic_ceiling) ys.push(tuning.arithmetic_ceiling);
    const ridge = tuning.arithmetic_ceiling && fastest ? [tuning.arithmetic_ceiling / fastest] : [];
    const x0 = Math.min(...xs, ...ridge) / 4, x1 = Math.max(...xs, ...ridge) * 4, y0 = ys.reduce((a, b) => Math.min(a, b)) / 1.6, y1 = ys.reduce((a, b) => Math.max(a, b)) * 1.8;
    const f = frame(width, 330, numberScale(x0, x1, showNumber, true), numberScale(y0, y1, showFlops, true), {x: "FLOP for each byte of least traffic", y: "arithmetic rate"}, names);
    for (const [name, bandwidth] of memory) {
      const from = Math.max(x0, y0 / bandwidth), to = Math.min(x1, y1 / bandwidth, tuning.arithmetic_ceiling ? tuning.arithmetic_ceiling / bandwidth : Infinity);
      if (from >= to) continue;
      f.node.append(svg("line", {class: "roof", x1: round(f.x(from)), y1: round(f.y(from * bandwidth)), x2: round(f.x(to)), y2: round(f.y(to * bandwidth))}));
      // Above the line if there is room to its left, otherwise below it.
      const middle = Math.sqrt(from * to), text = name + " " + plain(showRate(bandwidth)), above = f.x(middle) - textWidth(text) - 12 > f.left;
      const tx = f.x(middle) + (above ? -12 : 14);
      f.node.append(label(tx, f.y(middle * bandwidth) + (above ? -6 : 18), shorten(text, above ? tx - f.left : f.right - tx), {class: "name halo", "text-anchor": above ? "end" : "start"}));
    }
    if (tuning.arithmetic_ceiling) {
      const from = fastest ? Math.max(x0, tuning.arithmetic_ceiling / fastest) : x0;
      f.node.append(svg("line", {class: "roof", x1: round(f.x(from)), x2: f.right, y1: round(f.y(tuning.arithmetic_ceiling)), y2: round(f.y(tuning.arithmetic_ceiling))}));
      f.node.append(label(f.right, f.y(tuning.arithmetic_ceiling) - 8, plain(showFlops(tuning.arithmetic_ceiling)), {class: "name", "text-anchor": "end"}));
    }
    const x = f.x(intensity), points = (trials ? trials.measured : []).map((row) => ({x: x + (((row * 0.618) % 1) - 0.5) * 12, y: f.y(rate(trials.median[row])), lines: () => [showFlops(rate(trials.median[row])), ...trialLines(view, row)]}));
    f.node.append(dots(points, shade(0.45).css, 3.4, 0.6));
    for (const one of others) {
      const place = {x: f.x(one.flops / one.bytes), y: f.y(one.flops / one.best.median_ns * 1e9), lines: () => [showFlops(one.flops / one.best.median_ns * 1e9), one.kernel.name, one.choices + " " + one.sizes]};
      f.node.append(svg("circle", {class: "other", cx: round(place.x), cy: round(place.y), r: 4.5}));
      points.push(place);
    }
    f.node.append(svg("circle", {class: "ring", cx: round(x), cy: round(f.y(best)), r: 7}));
    points.push({x, y: f.y(best), lines: () => [showFlops(best), "the best configuration", view.bestText]});
    return explore(f.node, points, "Roofline. " + say);
  };
  const table = () => ({columns: [
    {name: "what", words: true, key: (one) => one[0], show: (one) => one[0]},
    {name: "FLOP a byte", number: true, key: (one) => one[1], show: (one) => (one[1] ? showNumber(one[1]) : "")},
    {name: "rate", number: true, key: (one) => one[2], show: (one) => one[3]}],
    rows: [["best of this", intensity, best, showFlops(best)], ...memory.map((one) => ["this device\u2019s " + one[0], 0, one[1], showRate(one[1])]),
           ...(tuning.arithmetic_ceiling ? [["this device\u2019s arithmetic", 0, tuning.arithmetic_ceiling, showFlops(tuning.arithmetic_ceiling)]] : []),
           ...others.map((one) => { const value = one.flops / one.best.median_ns * 1e9; return [one.kernel.name + " " + one.choices + " " + one.sizes, one.flops / one.bytes, value, showFlops(value)]; })]});
  return {draw, table, say};
}

// ---- failures -----------------------------------------------------------------------------------------------------

const KINDS = {compile: "did not compile", launch: "did not launch", timeout: "did not end in time", wrong: "gave a wrong result", invalid: "was not valid here"};
function failuresPicture(view) {
  const trials = view.trials, groups = new Map();
  for (const row of trials.first) {
    if (trials.kind[row] === "ok") continue;
    const key = trials.kind[row] + " " + trials.reason[row];
    if (!groups.has(key)) groups.set(key, {kind: trials.kind[row], reason: trials.reason[row], count: 0, row});
    groups.get(key).count += 1;
  }
  const rows = [...groups.values()].sort((a, b) => b.count - a.count), most = rows[0].count;
  const kinds = [...new Set(rows.map((one) => one.kind))].map((kind) => showCount(rows.filter((one) => one.kind === kind).reduce((sum, one) => sum + one.count, 0)) + " " + (KINDS[kind] || kind));
  const say = plural(view.failed, "configuration") + " of " + showCount(trials.first.length) + " failed: " + kinds.join(", ") + ". Messages that differ only in numbers count as one.";
  const draw = (width) => barRows(width, rows.slice(0, 12).map((one) => ({name: one.kind + ": " + (one.reason || "no reason given"), share: one.count / most, text: showCount(one.count),
    lines: () => [plural(one.count, "configuration") + " " + (KINDS[one.kind] || one.kind), one.reason, "for example " + trials.configuration(one.row)]})), "Failures. " + say);
  const table = () => ({columns: [
    {name: "configurations", number: true, key: (one) => one.count, show: (one) => showCount(one.count)},
    {name: "outcome", key: (one) => one.kind, show: (one) => one.kind},
    {name: "reason", words: true, key: (one) => one.reason, show: (one) => one.reason},
    {name: "for example", words: true, key: (one) => trials.configuration(one.row), show: (one) => trials.configuration(one.row)}], rows});
  return {draw, table, say};
}
