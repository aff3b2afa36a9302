// The trials of one tuning, and the statistics that the pictures show. Pure.

// A parameter: its values in order (numbers, words, and "" for none), and the place of each row's value among them.
function parameterOf(name, rows) {
  const kind = (value) => (typeof value === "number" ? 0 : value === "" ? 2 : 1);
  const values = [...new Set(rows)].sort((a, b) => kind(a) - kind(b) || (a < b ? -1 : 1));
  const places = new Map(values.map((value, place) => [value, place]));
  return {name, values, places: rows.map((value) => places.get(value))};
}

// Columns of the trials, with values derived from them.
class Trials {
  constructor(json, kernel) {
    this.count = json.count;
    this.parameters = json.parameters.map(({name, rows}) => parameterOf(name, rows));
    this.kind = json.states.map((state) => state[0]);
    this.marks = json.states.map((state) => state[1]);
    this.reason = json.states.map((state) => state[2]);
    this.numbers = new Map(Object.entries(json.columns).map(([name, rows]) => [name, Float64Array.from(rows, (number) => number ?? NaN)]));
    this.finalists = json.finalists;
    this.median = this.numbers.get("median_ns") || new Float64Array(json.count).fill(NaN);
    // The search minimises this: the metric, or its reciprocal if the largest wins. NaN for trials that cannot win.
    const judged = kernel.is_time ? this.median : this.numbers.get("metric " + kernel.metric);
    this.objective = new Float64Array(json.count).fill(NaN);
    this.first = [];      // rows with the first measurement of a configuration
    this.measured = [];   // the ones of these that can win
    for (let row = 0; row < json.count; ++row) {
      if (judged && this.kind[row] === "ok" && this.marks[row].includes("v")) this.objective[row] = kernel.is_larger_better ? 1 / judged[row] : judged[row];
      if (this.marks[row].includes("r")) continue;
      this.first.push(row);
      if (Number.isFinite(this.objective[row])) this.measured.push(row);
    }
  }

  value(parameter, row) { return parameter.values[parameter.places[row]]; }
  configuration(row) { return this.parameters.map((one) => one.name + "=" + this.value(one, row)).join(" "); }

  // The rows of a configuration: its measurement in the search, and the last one as a finalist. -1: there is none.
  rowsOf(text) {
    const rows = {search: -1, final: -1};
    for (let row = this.count - 1; row >= 0; --row) {
      if (this.kind[row] !== "ok" || this.configuration(row) !== text) continue;
      if (!this.marks[row].includes("r")) rows.search = row;
      else if (rows.final < 0) rows.final = row;
    }
    return rows;
  }
}

function quantile(sorted, share) {
  if (!sorted.length) return NaN;
  const at = (sorted.length - 1) * share, low = Math.floor(at);
  return sorted[low] + (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]) * (at - low);
}

function ascending(values) { return Float64Array.from(values).sort(); }

// The lowest of the values up to each place; NaN before the first.
function bestSoFar(values) {
  let best = NaN;
  return Array.from(values, (value) => (best = Number.isNaN(best) || value < best ? (Number.isNaN(value) ? best : value) : best));
}

// The best of k draws without replacement out of `total` configurations. Those in `sorted` (ascending) have a value; the
// others fail. Returns its expectation, given that one of the draws works, and its 10% and 90% quantiles. Exact: the
// best is above sorted[i] when all k draws are among the total - i - 1 others.
function bestOfDraws(sorted, total, k) {
  let sum = 0, mass = 0, above = 1, low = NaN, high = NaN;
  const works = 1 - chanceNone(total, sorted.length, k);
  for (let i = 0; i < sorted.length; ++i) {
    // above: the chance that no draw is among the first i. Each step multiplies it by (total - i - k) / (total - i).
    const next = total - i - k > 0 ? above * (total - i - k) / (total - i) : 0;
    const here = above - next;
    sum += here * sorted[i];
    mass += here;
    if (Number.isNaN(low) && mass >= 0.1 * works) low = sorted[i];
    if (Number.isNaN(high) && mass >= 0.9 * works) high = sorted[i];
    above = next;
    if (above < 1e-12) break;
  }
  return {mean: sum / mass, low, high: Number.isNaN(high) ? sorted[sorted.length - 1] : high};
}

// The chance that none of k draws out of `total` is among `good`.
function chanceNone(total, good, k) {
  let chance = 1;
  for (let i = 0; i < good && chance > 1e-15; ++i) chance *= Math.max(0, total - i - k) / (total - i);
  return chance;
}

// The fewest draws whose expected best is at most `limit`; null when even all do not suffice.
function drawsUntil(sorted, total, limit) {
  let low = 1, high = total;
  if (!(bestOfDraws(sorted, total, high).mean <= limit)) return null;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (bestOfDraws(sorted, total, middle).mean <= limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

// First-order share of each parameter in the variance of log(objective), or of an objective that is 0 somewhere: the variance between the means of its values,
// corrected for chance (epsilon squared), never below 0.
function importance(trials) {
  const rows = trials.measured, positive = rows.every((row) => trials.objective[row] > 0);
  const logs = rows.map((row) => (positive ? Math.log(trials.objective[row]) : trials.objective[row]));
  const n = rows.length, mean = logs.reduce((a, b) => a + b, 0) / n;
  const total = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0);
  return trials.parameters.map((parameter) => {
    const sums = new Map();
    rows.forEach((row, i) => {
      const one = sums.get(parameter.places[row]) || {count: 0, sum: 0};
      one.count += 1;
      one.sum += logs[i];
      sums.set(parameter.places[row], one);
    });
    let between = 0;
    for (const one of sums.values()) between += one.count * (one.sum / one.count - mean) ** 2;
    const share = total > 0 && n > sums.size ? 1 - (total - between) / total * (n - 1) / (n - sums.size) : 0;
    return {parameter, share: Math.max(0, share), values: sums.size};
  }).sort((a, b) => b.share - a.share);
}

// Best or median objective for each pair of values: cells[b][a], NaN where none was measured.
function pairCells(trials, a, b, how) {
  const lists = b.values.map(() => a.values.map(() => []));
  for (const row of trials.measured) lists[b.places[row]][a.places[row]].push(trials.objective[row]);
  return lists.map((line) => line.map((list) => (how === "best" ? quantile(ascending(list), 0) : quantile(ascending(list), 0.5))));
}

// The rate that the device reached for the kernel's mix of reads and writes; 0 when it was not measured.
function memoryCeiling(tuning, device) {
  const {written} = tuning, copied = 1 - Math.abs(1 - 2 * written);
  const alone = (written > 0.5 && device.write_bytes_per_s) || device[(written > 0.5 ? "copy" : "read") + "_bytes_per_s"];
  const seconds = (copied ? copied / (device.copy_bytes_per_s || 0) : 0) + (copied < 1 ? (1 - copied) / (alone || 0) : 0);
  return {rate: Number.isFinite(seconds) ? 1 / seconds : 0, name: {0: "read rate", 0.5: "copy rate", 1: "write rate"}[written] || "rate for its reads and writes"};
}
