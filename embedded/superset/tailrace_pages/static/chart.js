// Draws the charts of a page with uPlot, which the page loads first. Data, as JSON in data-chart of each .plot:
//   times    seconds since 1970, ascending
//   series   [{label, values, unit: 's' | 'B' | '', kind: 'line' | 'bars'}]; null where a value is unknown
//   stacked  true: each series begins where the one before it ends; the legend has the values of each alone
//   width    seconds from one time to the next, which bars fill (optional)
//   marks    [{time, label}] by time, vertical lines such as a deploy (optional); marks.js writes their labels
'use strict';

const COUNT_STEPS = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
const HEIGHT = 240;
const LEAST = 0.001;
const BAR_SHARE = 0.8;
const MARK_DASH = [4, 4];
const MARK_LINE = 16;
const SCALES = {
  s: [[1e-3, 1e6, 'µs'], [1, 1e3, 'ms'], [Infinity, 1, 's']],
  B: [[1e3, 1, 'B'], [1e6, 1e-3, 'kB'], [1e9, 1e-6, 'MB'], [Infinity, 1e-9, 'GB']],
};

function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function written(value, unit) {
  if (value === null || value === undefined) {
    return 'unknown';
  }
  const [, factor, name] = (SCALES[unit] ?? [[Infinity, 1, '']]).find(([limit]) => Math.abs(value) < limit || limit === Infinity);
  return value === 0 ? '0' : `${Number((value * factor).toPrecision(3)).toLocaleString('en', { maximumSignificantDigits: 3 })} ${name}`.trim();
}

// A value of the legend, as formats.number writes it; ticks of an axis need their digits.
function valueText(value, unit) {
  return !unit && value > 0 && value < LEAST ? `< ${LEAST}` : written(value, unit);
}

// The ticks of the time axis in UTC: the date where a day begins, otherwise hours and minutes.
function ticks(_, seconds) {
  return seconds.map((each) => {
    const text = new Date(each * 1000).toISOString();
    return each % 86400 === 0 ? text.slice(5, 10) : text.slice(11, 16);
  });
}

function stack(series) {
  const totals = [];
  const sums = series.map(({ values }) => values.map((value, index) => {
    totals[index] = (totals[index] ?? 0) + (value ?? 0);
    return value === null ? null : totals[index];
  }));
  // The tallest bars are drawn first, so that the shorter ones are in front of them.
  return series.map((each, number) => ({ ...each, number, own: each.values, values: sums[number] })).reverse();
}

// The indexes of values that no line connects: their neighbours are unknown. null without such values.
function isolated(values) {
  const isKnown = (value) => value !== null && value !== undefined;
  const found = values.flatMap((value, at) => (isKnown(value) && !isKnown(values[at - 1]) && !isKnown(values[at + 1]) ? [at] : []));
  return found.length > 0 ? found : null;
}

function seriesOf({ label, unit = '', kind = 'line', own, number: place }, index) {
  const number = place ?? index;
  const colour = style(`--series-${number % 6 + 1}`);
  const bars = { paths: uPlot.paths.bars({ size: [BAR_SHARE], align: 1 }), fill: colour, points: { show: false } };
  const line = { points: { show: false, size: 6, fill: colour, filter: (plot, at) => isolated(plot.data[at]) } };
  return { label, stroke: colour, width: 2, value: (_, value, __, at) => (at === null ? '' : valueText(own ? own[at] : value, unit)), ...(kind === 'bars' ? bars : line) };
}

// The distances of lines across the chart: there is no line at half an alert.
function steps(series) {
  const isCount = series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)));
  return isCount ? { incrs: COUNT_STEPS } : {};
}

// The rows above the plot for the labels of marks.
function rowsOf(marks) {
  return Math.min(marks.length, MARK_ROWS);
}

function drawMarks(marks) {
  return (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = style('--ink');
    ctx.setLineDash(MARK_DASH);
    ctx.textAlign = 'left';
    ctx.textBaseline = 'top';
    const right = bbox.left + bbox.width;
    const shown = marks.map(({ time, label }) => ({ x: plot.valToPos(time, 'x', true), label }))
      .filter(({ x }) => x >= bbox.left && x <= right);
    const line = MARK_LINE * devicePixelRatio;
    const top = bbox.top - rowsOf(marks) * line;
    for (const { x } of shown) {
      ctx.beginPath();
      ctx.moveTo(x, top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    const measure = (label) => ctx.measureText(label).width;
    for (const { x, row, label } of placeMarks(shown, { left: bbox.left, right, measure, gap: MARK_GAP * devicePixelRatio })) {
      ctx.clearRect(x - devicePixelRatio, top + row * line, measure(label) + 2 * devicePixelRatio, line); // lines of others
      ctx.fillText(label, x, top + row * line + 2 * devicePixelRatio);
    }
    ctx.restore();
  };
}

// The legend of stacked series: the time, then the series in the order in which they were given.
function inGivenOrder(legend) {
  const [, ...series] = legend.querySelectorAll('.u-series');
  series.reverse().forEach((each) => each.parentNode.append(each));
}

function draw(element) {
  const { times, series: given, marks = [], stacked = false, width = 0 } = JSON.parse(element.dataset.chart);
  const series = stacked ? stack(given) : given;
  const axis = { stroke: style('--muted'), font: `12px ${getComputedStyle(document.body).fontFamily}`, grid: { stroke: style('--line'), width: 1 } };
  element.hidden = false;
  const above = rowsOf(marks) * MARK_LINE;
  const size = () => ({ width: element.clientWidth, height: HEIGHT + above });
  const plot = new uPlot({
    ...size(),
    padding: [above + 8, null, null, null],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: { x: { range: (_, low, high) => [low, high + width] }, y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.05 : 1] } },
    axes: [{ ...axis, space: 60, values: ticks }, { ...axis, ...steps(series), size: 80, values: (_, values) => values.map((value) => written(value, series[0]?.unit)) }],
    series: [{ label: 'UTC', value: (_, at) => (at === null ? '' : new Date(at * 1000).toISOString().slice(0, 16).replace('T', ' ')) }, ...series.map(seriesOf)],
    hooks: { draw: [drawMarks(marks)] },
  }, [times, ...series.map(({ values }) => values)], element);
  if (stacked) {
    inGivenOrder(plot.root.querySelector('.u-legend'));
  }
  new ResizeObserver(() => plot.setSize(size())).observe(element);
}

document.querySelectorAll('.plot[data-chart]').forEach(draw);
