// Medians, spreads, and tables of them.

/** How often everything is measured. */
export const RUNS = 3;

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The median with the lowest and the highest. @param {number[]} values */
export function spread(values) {
  return `${short(median(values))} (${short(Math.min(...values))}–${short(Math.max(...values))})`;
}

/** How many times as much as the other. @param {number[]} values @param {number[]} other */
export function ratio(values, other) {
  return `${(median(values) / median(other)).toFixed(2)}×`;
}

/** @param {number} value */
function short(value) {
  return value.toPrecision(3).includes("e") ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

/** As Markdown has them, and as a terminal shows them. @param {string} title @param {string[]} head @param {string[][]} rows */
export function table(title, head, rows) {
  const widths = head.map((cell, at) => Math.max(cell.length, ...rows.map((row) => row[at].length)));
  const line = (cells) => `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join(" | ")} |`;
  const rule = `|${widths.map((width, at) => "-".repeat(width + 1) + (at === 0 ? "-" : ":")).join("|")}|`;
  console.log(["", title, "", line(head), rule, ...rows.map(line)].join("\n"));
}
