// Where the labels of a chart's marks are written, so that none covers another or is cut off at an edge.
'use strict';

const MARK_ROWS = 4;
const MARK_GAP = 4;

// Takes marks [{x, label}] with x ascending, the edges of the plot, and a function that measures a label. Returns a text for
// each mark with a label: {x, row, label}. Marks within `gap` of each other share one text. A text for which no row has
// room is left out: its line stays, and the page lists all marks below the chart.
function placeMarks(marks, { left, right, measure, gap = MARK_GAP, rows = MARK_ROWS }) {
  const free = Array(rows).fill(-Infinity);
  const placed = [];
  for (const { x, label } of mergedMarks(marks, gap)) {
    const width = measure(label);
    const fits = x + gap + width <= right;
    const start = fits ? x + gap : Math.max(left, x - gap - width);
    const row = free.findIndex((end) => end + gap <= start);
    if (row >= 0) {
      free[row] = start + width;
      placed.push({ x: start, row, label });
    }
  }
  return placed;
}

function mergedMarks(marks, gap) {
  const merged = [];
  for (const { x, label } of marks) {
    const last = merged.at(-1);
    if (last && x - last.until <= gap) {
      last.labels.push(label);
      last.until = x;
    } else {
      merged.push({ x, until: x, labels: [label] });
    }
  }
  return merged.map(({ x, labels }) => ({ x, label: labels.length > 2 ? `${labels[0]} and ${labels.length - 1} more` : labels.join(', ') }));
}
