// The expected values of the dashboards, computed from the rows of the workload with loops, without SQL and rollups.

import { queryIdOf } from './assertions.mjs';
import { timeOf } from './time.mjs';

export { timeOf };

/** The relative error of percentiles that are read from buckets, which are 2 % wide. */
export const BUCKET_ERROR = 0.0101;

/** Events from `from` up to `to`, exclusive (ms since 1970). */
export function within(events, { from, to }) {
  return events.filter((event) => timeOf(event) >= from && timeOf(event) < to);
}

/** Events of an instance, and of one of its statements if an id is given. */
export function of(events, instance, id) {
  return events.filter((event) => event.instance === instance && (id === undefined || queryIdOf(event) === id));
}

export function executions(events) {
  return sum(events, (event) => event.weight);
}

/** Seconds spent executing. */
export function totalSeconds(events) {
  return sum(events, (event) => event.weight * event.query_time);
}

/** Rows examined per row sent. */
export function examinedPerSent(events) {
  return sum(events, (event) => event.weight * event.rows_examined) / sum(events, (event) => event.weight * event.rows_sent);
}

/** The least query time (seconds) that a part `level` of all executions did not exceed: the nearest-rank percentile. */
export function percentile(events, level) {
  const sorted = [...events].sort((a, b) => a.query_time - b.query_time);
  const wanted = level * executions(events);
  let seen = 0;
  for (const event of sorted) {
    seen += event.weight;
    if (seen >= wanted) {
      return event.query_time;
    }
  }
  return undefined;
}

/** Events by the value of `key`: heaviest group first, as [value, events] pairs. */
export function heaviestBy(events, key) {
  return [...groupBy(events, key)].sort(([, a], [, b]) => totalSeconds(b) - totalSeconds(a));
}

export function groupBy(rows, key) {
  const groups = new Map();
  for (const row of rows) {
    const value = key(row);
    groups.set(value, [...(groups.get(value) ?? []), row]);
  }
  return groups;
}

export function sum(rows, value) {
  return rows.reduce((total, row) => total + value(row), 0);
}

/** Runs of equal neighbours: [{state, from, to}], indices, `to` exclusive. */
export function intervals(states) {
  const found = [];
  states.forEach((state, index) => {
    const last = found.at(-1);
    if (last?.state === state) {
      last.to = index + 1;
    } else {
      found.push({ state, from: index, to: index + 1 });
    }
  });
  return found;
}
