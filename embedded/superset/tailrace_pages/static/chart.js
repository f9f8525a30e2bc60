// Draws the charts of a page with uPlot, which the page loads first. Data, as JSON in data-chart of each .plot:
//   times    seconds since 1970, ascending
//   series   [{label, values, unit: 's' | 'B' | '', kind: 'line' | 'bars'}]; null where a value is unknown
//   stacked  true: each series begins where the one before it ends; the legend has the values of each alone
//   marks    [{time, label}], vertical lines such as a deploy (optional)
'use strict';

const HEIGHT = 240;
const BAR_SHARE = 0.8;
const MARK_DASH = [4, 4];
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

// The ticks of the time axis in UTC: the date where a day begins, otherwise hours and minutes.
function ticks(_, seconds) {
  return seconds.map((each) => {
    const text = new Date(each * 1000).toISOString();
    return each % 86400 === 0 ? text.slice(5, 10) : text.slice(11, 16);
  });
}

function stack(series) {
  const totals = [];
  const sums = series.map(({ values }) => values.map((value, index) => (totals[index] = (totals[index] ?? 0) + (value ?? 0))));
  // The tallest bars are drawn first, so that the shorter ones are in front of them.
  return series.map((each, number) => ({ ...each, number, own: each.values, values: sums[number] })).reverse();
}

function seriesOf({ label, unit = '', kind = 'line', own, number: place }, index) {
  const number = place ?? index;
  const colour = style(`--series-${number % 6 + 1}`);
  const bars = kind === 'bars' ? { paths: uPlot.paths.bars({ size: [BAR_SHARE] }), fill: colour } : {};
  return { label, stroke: colour, width: 2, points: { show: false }, value: (_, value, __, at) => (at === null ? '' : written(own ? own[at] : value, unit)), ...bars };
}

function drawMarks(marks) {
  return (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = style('--ink');
    ctx.setLineDash(MARK_DASH);
    ctx.textAlign = 'left';
    for (const { time, label } of marks) {
      const x = plot.valToPos(time, 'x', true);
      if (x >= bbox.left && x <= bbox.left + bbox.width) {
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
        ctx.fillText(label, x + 4 * devicePixelRatio, bbox.top + 12 * devicePixelRatio);
      }
    }
    ctx.restore();
  };
}

function draw(element) {
  const { times, series: given, marks = [], stacked = false } = JSON.parse(element.dataset.chart);
  const series = stacked ? stack(given) : given;
  const axis = { stroke: style('--muted'), grid: { stroke: style('--line'), width: 1 } };
  element.hidden = false;
  const size = () => ({ width: element.clientWidth, height: HEIGHT });
  const plot = new uPlot({
    ...size(),
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: { y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.05 : 1] } },
    axes: [{ ...axis, space: 60, values: ticks }, { ...axis, size: 80, values: (_, values) => values.map((value) => written(value, series[0]?.unit)) }],
    series: [{ label: 'UTC', value: (_, at) => (at === null ? '' : new Date(at * 1000).toISOString().slice(0, 16).replace('T', ' ')) }, ...series.map(seriesOf)],
    hooks: { draw: [drawMarks(marks)] },
  }, [times, ...series.map(({ values }) => values)], element);
  new ResizeObserver(() => plot.setSize(size())).observe(element);
}

document.querySelectorAll('.plot[data-chart]').forEach(draw);
