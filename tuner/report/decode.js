// From the packed columns of the page's data (columns.hpp) back to arrays. Nothing here touches the document.

const DIGIT = (() => {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const table = new Uint8Array(128);
  for (let i = 0; i < 64; ++i) table[digits.charCodeAt(i)] = i;
  return table;
})();

// One number a row.
function readCodes(column, count) {
  const codes = new Float64Array(count), width = column.width, text = column.text;
  for (let row = 0, at = 0; row < count; ++row) {
    let code = 0;
    for (let k = 0; k < width; ++k) code = code * 64 + DIGIT[text.charCodeAt(at++)];
    codes[row] = code;
  }
  return codes;
}

// The columns that are places in lists; those of one value are not in the text and stay 0.
function readPlaces(groups, sizes, count) {
  const columns = sizes.map(() => new Uint16Array(count));
  for (const group of groups) {
    const codes = readCodes(group, count);
    for (let row = 0; row < count; ++row) {
      let rest = codes[row];
      for (const i of group.of) {
        columns[i][row] = rest % sizes[i];
        rest = Math.floor(rest / sizes[i]);
      }
    }
  }
  return columns;
}

// NaN where there is none.
function readNumbers(column, columns, count) {
  if (column.rows) {  // of few rows: which ones
    const {rows, few, ...rest} = column, out = new Float64Array(count).fill(NaN);
    const values = few ? few.map((place) => column.values[place]) : readNumbers(rest, columns, rows.count);
    readCodes(rows, rows.count).forEach((row, i) => { out[row] = values[i]; });
    return out;
  }
  if (column.values) return Float64Array.from(columns[column.at], (place) => (place < column.values.length ? column.values[place] : NaN));
  const steps = Math.pow(64, column.width) - 2, low = column.low, high = column.high;
  return readCodes(column, count).map((code) => {
    const share = (code - 1) / steps;
    return !code ? NaN : column.log ? low * Math.pow(high / low, share) : low + (high - low) * share;
  });
}

// The trials of one tuning as columns, with what follows from them.
class Trials {
  constructor(json, kernel, bytes) {
    this.count = json.count;
    // Places: first of the parameters, then of the states, then of numbers of which there are few.
    const sizes = json.parameters.map((one) => one.values.length);
    sizes[json.states.at] = json.states.words.length;
    for (const one of json.columns) if (one.at !== undefined) sizes[one.at] = one.values.length + (one.absent ? 1 : 0);
    const columns = readPlaces(json.groups, sizes, json.count), states = columns[json.states.at];
    this.parameters = json.parameters.map((one, i) => ({name: one.name, values: one.values, places: columns[i]}));
    this.kind = Array.from(states, (place) => json.states.words[place][0]);
    this.marks = Array.from(states, (place) => json.states.words[place][1]);
    this.reason = Array.from(states, (place) => json.states.words[place][2]);
    this.numbers = new Map(json.columns.map((one) => [one.name, readNumbers(one, columns, json.count)]));
    this.finalists = json.finalists;
    this.median = this.numbers.get("median_ns") || new Float64Array(json.count).fill(NaN);
    // What the search minimises, the reciprocal where the largest wins; NaN for what cannot win.
    const judged = kernel.is_time ? this.median : this.numbers.get("metric " + kernel.metric);
    this.objective = new Float64Array(json.count).fill(NaN);
    this.first = [];      // rows without those that were measured again
    this.measured = [];   // of these, the ones that can win
    for (let row = 0; row < json.count; ++row) {
      if (judged && this.kind[row] === "ok" && this.marks[row].includes("v")) this.objective[row] = kernel.is_larger_better ? 1 / judged[row] : judged[row];
      if (this.marks[row].includes("r")) continue;
      this.first.push(row);
      if (Number.isFinite(this.objective[row])) this.measured.push(row);
    }
    this.bytes = bytes;
  }

  value(parameter, row) { return parameter.values[parameter.places[row]]; }
  configuration(row) { return this.parameters.map((one) => one.name + "=" + this.value(one, row)).join(" "); }
}
