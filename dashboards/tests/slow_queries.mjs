// Slow queries in a real browser. The tests compare it with the known values of the workload.
//
// Environment: SUPERSET_URL, ROLES (users and passwords as JSON), WORKLOAD_END as given to seed.mjs; SCREENSHOTS, a
// directory of screenshots (default: no screenshots).

import assert from 'node:assert/strict';

import { before, describe, test } from 'node:test';
import { assertClose, assertNoneFailed, one, queryIdOf } from './assertions.mjs';
import { end, MINUTE } from './time.mjs';
import * as expectedValues from './expected_values.mjs';
import { browser, testDrawing, visitAs } from './browser_session.mjs';
import { MINUTES, slowQueries } from './workload.mjs';

visitAs('developer');

const start = end - MINUTES * MINUTE;
const { events, fingerprints } = slowQueries(end);

// This file tests the filter bar and a range without events for all dashboards, because they work like `filtered`. Only the
// first tab is open at first, because each change repeats the requests of every opened tab.
describe('Slow queries with filters', () => {
  before(() => browser.follow('/superset/dashboard/slow-queries/'));

  test('offers the instances of the chosen clusters', async () => {
    await browser.choose('cluster', 'billing');
    await browser.awaitOffered('instance', ['billing-db-1']);
    await browser.choose('cluster', 'billing'); // the second click removes the filter
  });

  test('draws the charts again after a change of the filter bar', async () => {
    await browser.choose('instance', 'shop-db-1');
    await browser.choose('user', 'checkout');
    await browser.applyFilters();
    await assertTotals(ofCheckout());
  });

  test('filters all charts by a clicked value of a table', async () => {
    const [queryId, its] = expectedValues.heaviestBy(ofCheckout(), queryIdOf)[1];
    await browser.clickCell('Total time (s) by query', queryId);
    await assertTotals(its);
  });

  test('shows the texts of empty charts in a range without data, and does not fail', async () => {
    await browser.chooseTimeRange(start - 900 * MINUTE, start - 600 * MINUTE);
    await assertNoneFailed(browser);
  });
});

describe('Slow queries', () => {
  before(() => browser.open('slow-queries'));

  testDrawing('slow-queries');

  test('shows totals over all executions', () => assertTotals(events));

  test('shows load per instance and minute', async () => {
    const { data } = await browser.filtered({ range: [start, end] }).chart('Load (query seconds per second) by instance'); // the bucket is one minute in this range
    for (const [instance, its] of expectedValues.groupBy(events, (event) => event.instance)) {
      const perMinute = expectedValues.groupBy(its, (event) => Math.floor(expectedValues.timeOf(event) / MINUTE) * MINUTE);
      for (const row of wholeMinutes(data)) {
        const seconds = expectedValues.totalSeconds(perMinute.get(row.time) ?? []);
        assertClose(row[instance], seconds / 60, `${instance} at ${new Date(row.time).toISOString()}`);
      }
    }
    assert.equal(wholeMinutes(data).length, MINUTES, 'a bucket for every minute');
  });

  test('shows percentiles per minute, and no value for a minute without executions', async () => {
    const { data } = await browser.filtered({ range: [start, end] }).chart('Latency p50, p95, p99 (s)');
    const perMinute = expectedValues.groupBy(events, (event) => Math.floor(expectedValues.timeOf(event) / MINUTE) * MINUTE);
    for (const row of data.filter(({ time }) => time < lastWholeMinute())) {
      const its = perMinute.get(row.time) ?? [];
      for (const level of [50, 95, 99]) {
        assertClose(row[`p${level}`], expectedValues.percentile(its, level / 100), `p${level} at ${row.time}`, expectedValues.BUCKET_ERROR);
      }
    }
  });

  for (const dimension of ['instance', 'database', 'user']) {
    test(`breaks time down by ${dimension}`, async () => {
      const expected = expectedValues.heaviestBy(events, (event) => event[dimension] || '(none)');
      const { data } = await browser.filtered({ range: [start, end] }).chart(`Total time (s) by ${dimension}`);
      assert.deepEqual(data.map((row) => row[dimension]), expected.map(([value]) => value));
      data.forEach((row, i) => assertMeasures(row, expected[i][1], expectedValues.BUCKET_ERROR));
    });
  }

  test('applies the time range', async () => {
    const [from, to] = [start + 30 * MINUTE, start + 95 * MINUTE];
    const shorter = browser.filtered({ range: [from, to] });
    await assertTotals(events.filter((event) => expectedValues.timeOf(event) >= from && expectedValues.timeOf(event) < to), shorter);
    const { data } = await shorter.chart('Latency p50, p95, p99 (s)');
    assert.deepEqual([data[0].time, data.at(-1).time], [from, to - MINUTE], 'the range is drawn, and no more');
  });

  test('shows the same totals for a week, from hourly rollups', async () => {
    const week = browser.filtered({ range: [start - 6 * 24 * 60 * MINUTE, end + 60 * MINUTE] });
    await assertTotals(events, week);
    const expected = expectedValues.heaviestBy(events, queryIdOf).slice(0, 10);
    assertHeaviest((await week.chart('Total time (s) by query')).data, expected, expectedValues.BUCKET_ERROR);
  });

  test('applies the filters of instance, database, user and statement', async () => {
    const [queryId, its] = expectedValues.heaviestBy(events, queryIdOf)[2];
    await assertTotals(its, browser.filtered({ query_id: queryId }));
    await assertTotals(events.filter((event) => event.database === 'billing'), browser.filtered({ database: 'billing' }));
    await assertTotals(events.filter((event) => event.instance === 'shop-db-2'), browser.filtered({ instance: 'shop-db-2' }));
    await assertTotals(ofCheckout(), browser.filtered({ instance: 'shop-db-1', user: 'checkout' }));
  });

  test('lists all queries on its pages, those with the most total time first', async () => {
    const expected = expectedValues.heaviestBy(events, queryIdOf);
    const ranged = browser.filtered({ range: [start, end] });
    assertHeaviest((await ranged.chart('Total time (s) by query')).data, expected.slice(0, 10), 1e-9);
    const [first] = await browser.table('Total time (s) by query');
    assert.equal(first[1], expected[0][0], 'the query id that a person reads');
    await browser.turnPage('Total time (s) by query', 2);
    assertHeaviest((await browser.filtered({ range: [start, end] }).chart('Total time (s) by query')).data, expected.slice(10), 1e-9);
  });

  test('searches a text within the queries of all pages', async () => {
    const found = fingerprints.filter(({ fingerprint }) => fingerprint.indexOf('created') > 0).map(queryIdOf);
    await browser.search('Total time (s) by query', 'created');
    assert.deepEqual((await browser.table('Total time (s) by query')).map((row) => row[1]).sort(), found.sort());
  });
});

function ofCheckout() {
  return events.filter((event) => event.instance === 'shop-db-1' && event.user === 'checkout');
}

/** Asserts that the numbers of the dashboard are those of these events. */
async function assertTotals(its, charts = browser) {
  assert.equal((await one(charts, 'Executions')).executions, expectedValues.executions(its));
  assertClose((await one(charts, 'Total time')).total_seconds, expectedValues.totalSeconds(its), 'total time');
  assertClose((await one(charts, 'Latency p95')).p95, expectedValues.percentile(its, 0.95), 'p95', expectedValues.BUCKET_ERROR);
  assertClose((await one(charts, 'Latency p99')).p99, expectedValues.percentile(its, 0.99), 'p99', expectedValues.BUCKET_ERROR);
  const ratio = (await one(charts, 'Rows examined per row sent')).examined_per_sent;
  const sends = its.some((event) => event.rows_sent > 0);
  assertClose(ratio, sends ? expectedValues.examinedPerSent(its) : null, 'rows examined per row sent');
  assert.equal((await one(charts, 'Distinct queries')).distinct_queries, new Set(its.map((event) => event.query_id)).size);
  if (charts === browser) {
    const { text } = await browser.chart('Executions');
    assert.ok(text.includes(expectedValues.executions(its).toLocaleString('en-US')), `a person reads ${text}`);
    assert.match((await browser.chart('Total time')).text, /\d\s(ms|s|min|h)\b/); // SECONDS of static_assets.py
  }
}

function assertHeaviest(rows, expected, percentileError) {
  assert.deepEqual(rows.map((row) => row.query_id), expected.map(([queryId]) => queryId));
  rows.forEach((row, i) => {
    const its = expected[i][1];
    assertMeasures(row, its, percentileError);
    assertClose(row.examined_each, expectedValues.sum(its, (event) => event.weight * event.rows_examined) / expectedValues.executions(its));
    assertClose(row.sent_each, expectedValues.sum(its, (event) => event.weight * event.rows_sent) / expectedValues.executions(its));
  });
}

function assertMeasures(row, its, percentileError) {
  assert.equal(row.executions, expectedValues.executions(its));
  assertClose(row.total_seconds, expectedValues.totalSeconds(its), 'total time');
  assertClose(row.share, expectedValues.totalSeconds(its) / expectedValues.totalSeconds(events), 'share');
  assertClose(row.p95, expectedValues.percentile(its, 0.95), 'p95', percentileError);
}

function wholeMinutes(rows) {
  return rows.filter((row) => row.time >= start && row.time < end);
}

function lastWholeMinute() {
  return Math.floor(Date.now() / MINUTE) * MINUTE;
}
