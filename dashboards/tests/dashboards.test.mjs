// Slow queries and Ledger in a real browser, held against the workload's known answers.
//
// Environment: SUPERSET_URL, ROLES (users and passwords as JSON), WORKLOAD_END as given to seed.mjs; SCREENSHOTS, a
// directory for pictures of what was seen (default: a temporary one).

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { assertClose, assertDrawn, assertNoneFailed, one, queryIdOf } from './assertions.mjs';
import * as truth from './truth.mjs';
import { browser, screenshots, visitAs } from './visitor.mjs';
import { logFiles, MINUTES, slowQueries } from './workload.mjs';

visitAs('developer');

const MINUTE = 60_000;
const BUCKET_ERROR = 0.0101; // percentiles are read from buckets that are 2 % wide

const end = Number(process.env.WORKLOAD_END) * 1000;
const start = end - MINUTES * MINUTE;
const { events } = slowQueries(end);
const books = logFiles(end);

describe('Slow queries', () => {
  before(() => browser.open('slow-queries'));

  test('draws every chart', async () => {
    await assertDrawn(browser, 16);
    await browser.screenshot(join(screenshots, 'slow-queries.png'));
  });

  test('shows totals over all executions', () => assertTotals(events));

  test('shows load per instance and minute', async () => {
    await browser.chooseTimeRange(start, end); // a bucket is a minute then
    const { data } = await browser.chart('Load by instance');
    for (const [instance, its] of truth.groupBy(events, (event) => event.instance)) {
      const perMinute = truth.groupBy(its, (event) => Math.floor(truth.timeOf(event) / MINUTE) * MINUTE);
      for (const row of wholeMinutes(data)) {
        const seconds = truth.totalSeconds(perMinute.get(row.time) ?? []);
        assertClose(row[instance], seconds / 60, `${instance} at ${new Date(row.time).toISOString()}`);
      }
    }
    assert.equal(wholeMinutes(data).length, MINUTES, 'a bucket for every minute');
  });

  test('shows percentiles per minute, and none where nothing ran', async () => {
    const { data } = await browser.chart('Latency p50, p95, p99');
    const perMinute = truth.groupBy(events, (event) => Math.floor(truth.timeOf(event) / MINUTE) * MINUTE);
    for (const row of data.filter(({ time }) => time < lastWholeMinute())) {
      const its = perMinute.get(row.time) ?? [];
      for (const level of [50, 95, 99]) {
        assertClose(row[`p${level}`], truth.percentile(its, level / 100), `p${level} at ${row.time}`, BUCKET_ERROR);
      }
    }
  });

  test('lists the heaviest queries, all of them over its pages', async () => {
    const expected = truth.heaviestBy(events, queryIdOf);
    const { data } = await browser.chart('Heaviest queries');
    assertHeaviest(data, expected.slice(0, 10), 1e-9);
    const [first] = await browser.table('Heaviest queries');
    assert.equal(first[1], expected[0][0], 'the query id that a person reads');
    await browser.turnPage('Heaviest queries', 2);
    assertHeaviest((await browser.chart('Heaviest queries')).data, expected.slice(10), 1e-9);
    await browser.turnPage('Heaviest queries', 1);
  });

  for (const dimension of ['instance', 'database', 'user']) {
    test(`breaks time down by ${dimension}`, async () => {
      const expected = truth.heaviestBy(events, (event) => event[dimension] || '(none)');
      const { data } = await browser.chart(`By ${dimension}`);
      assert.deepEqual(data.map((row) => row[dimension]), expected.map(([value]) => value));
      data.forEach((row, i) => assertMeasures(row, expected[i][1], BUCKET_ERROR));
    });
  }

  test('follows the filters for instance, database and user', async () => {
    const its = events.filter((event) => event.instance === 'shop-db-1' && event.user === 'checkout');
    await assertTotals(events.filter((event) => event.database === 'billing'), browser.filtered({ database: 'billing' }));
    await assertTotals(its, browser.filtered({ instance: 'shop-db-1', user: 'checkout' }));
    await browser.choose('instance', 'shop-db-1');
    await browser.choose('user', 'checkout');
    await browser.applyFilters(); // of all dashboards, the filter bar is used here: it adds what `filtered` adds
    await assertTotals(its);
    await browser.clearFilters();
  });

  test('follows the time range', async () => {
    const [from, to] = [start + 30 * MINUTE, start + 95 * MINUTE];
    const shorter = browser.filtered({ range: [from, to] });
    await assertTotals(events.filter((event) => truth.timeOf(event) >= from && truth.timeOf(event) < to), shorter);
    const { data } = await shorter.chart('Latency p50, p95, p99');
    assert.deepEqual([data[0].time, data.at(-1).time], [from, to - MINUTE], 'the range is drawn, and no more');
  });

  test('shows a week by hourly rollups, to the same totals', async () => {
    const week = browser.filtered({ range: [start - 6 * 24 * 60 * MINUTE, end + 60 * MINUTE] });
    await assertTotals(events, week);
    const expected = truth.heaviestBy(events, queryIdOf).slice(0, 10);
    assertHeaviest((await week.chart('Heaviest queries')).data, expected, BUCKET_ERROR);
  });

  test('filters everything by what is clicked in a table', async () => {
    await browser.clickCell('Total time by instance', 'shop-db-2');
    await assertTotals(events.filter((event) => event.instance === 'shop-db-2'));
    await browser.clickCell('Total time by instance', 'shop-db-2');
    const [queryId, its] = truth.heaviestBy(events, queryIdOf)[2];
    await browser.clickCell('Heaviest queries', queryId);
    await assertTotals(its);
  });

  test('says so where there is nothing, and does not fail', async () => {
    await browser.chooseTimeRange(start - 900 * MINUTE, start - 600 * MINUTE);
    await assertNoneFailed(browser);
  });
});

describe('Ledger', () => {
  before(() => browser.open('books'));

  test('draws every chart', async () => {
    await assertDrawn(browser, 11);
    await browser.screenshot(join(screenshots, 'books.png'));
  });

  test('shows each stretch of covered, behind, missing and unknown minutes', async () => {
    const { data } = await browser.chart('Coverage by log file');
    for (const file of books.files) {
      const label = labelOf(file);
      const shown = data.filter((row) => row.file === label && row.from_time < end && row.to_time > start)
        .map((row) => ({ state: row.state, from: Math.max(0, minuteOf(row.from_time)), to: Math.min(MINUTES, minuteOf(row.to_time)) }));
      assert.deepEqual(shown, truth.stretches(file.states), label);
    }
    const unwatched = data.filter((row) => row.from_time < start || row.to_time > end);
    assert.equal(unwatched.filter((row) => row.from_time < start).length, books.files.length);
    assert.ok(unwatched.every((row) => row.state === 'unknown'), 'before and after the workload nobody looked');
  });

  test('shows totals that the workload booked itself', async () => {
    assert.equal((await one(browser, 'Bytes missing')).sum_missing, truth.sum(books.files, (file) => file.gapBytes));
    assert.equal((await one(browser, 'Bytes behind')).sum_behind, truth.sum(books.files, (file) => file.behind));
    assert.equal((await one(browser, 'Dead letters')).open_letters, books.deadLetters.length);
    assert.equal((await one(browser, 'Unexplained')).unexplained, 0);
  });

  test('balances each file', async () => {
    const { data } = await browser.chart('Ledger balance by file');
    for (const file of books.files) {
      const its = data.filter((row) => row.file === labelOf(file));
      assert.equal(truth.sum(its, (row) => row.sum_events), file.events, `${labelOf(file)}: events`);
      assert.equal(truth.sum(its, (row) => row.sum_dead_letters), file.deadLetters);
      assert.equal(truth.sum(its, (row) => row.sum_duplicates), file.duplicates);
      assert.equal(truth.sum(its, (row) => row.sum_gap_bytes), file.gapBytes);
      assert.equal(truth.sum(its, (row) => row.sum_behind), file.behind);
    }
  });

  test('lists what is open of the gap, and dead letters by code', async () => {
    const gaps = (await browser.chart('Open gaps')).data;
    assert.equal(truth.sum(gaps, (gap) => gap.missing_bytes), truth.sum(books.files, (file) => file.gapBytes));
    const letters = (await browser.chart('Dead letters by code')).data;
    const expected = truth.groupBy(books.deadLetters, (letter) => letter.code);
    assert.deepEqual(Object.fromEntries(letters.map((row) => [row.code, row.open_letters])),
      Object.fromEntries([...expected].map(([code, its]) => [code, its.length])));
  });

  test('shows how far reading is behind', async () => {
    const { data } = await browser.chart('Unread bytes by minute');
    for (const file of books.files) {
      const label = labelOf(file);
      assert.equal(data.at(-1)[label], file.behind, label);
    }
  });

  test('follows the filter for instance', async () => {
    const second = browser.filtered({ instance: 'shop-db-2' });
    const { data } = await second.chart('Coverage by log file');
    assert.deepEqual([...new Set(data.map((row) => row.file))], ['shop-db-2 · slow.log']);
    assert.equal((await one(second, 'Bytes behind')).sum_behind, 0);
  });
});

test('nothing leaves the machine', () => assert.deepEqual(browser.outside, []));

test('the browser reports no errors', () => assert.deepEqual(browser.errors, []));

/** Big numbers of the dashboard, for exactly these events. */
async function assertTotals(its, charts = browser) {
  assert.equal((await one(charts, 'Executions')).executions, truth.executions(its));
  assertClose((await one(charts, 'Total time')).total_time, 1000 * truth.totalSeconds(its), 'total time');
  assertClose((await one(charts, 'Latency p95')).p95, truth.percentile(its, 0.95), 'p95', BUCKET_ERROR);
  assertClose((await one(charts, 'Latency p99')).p99, truth.percentile(its, 0.99), 'p99', BUCKET_ERROR);
  const ratio = (await one(charts, 'Rows examined per row sent')).examined_per_sent;
  const sends = its.some((event) => event.rows_sent > 0);
  assertClose(ratio, sends ? truth.examinedPerSent(its) : null, 'rows examined per row sent');
  assert.equal((await one(charts, 'Distinct queries')).distinct_queries, new Set(its.map((event) => event.query_id)).size);
  if (charts === browser) {
    const { text } = await browser.chart('Executions');
    assert.ok(text.includes(truth.executions(its).toLocaleString('en-US')), `a person reads ${text}`);
  }
}

function assertHeaviest(rows, expected, percentileError) {
  assert.deepEqual(rows.map((row) => row.query_id), expected.map(([queryId]) => queryId));
  rows.forEach((row, i) => {
    const its = expected[i][1];
    assertMeasures(row, its, percentileError);
    assertClose(row.examined_each, truth.sum(its, (event) => event.weight * event.rows_examined) / truth.executions(its));
    assertClose(row.sent_each, truth.sum(its, (event) => event.weight * event.rows_sent) / truth.executions(its));
  });
}

function assertMeasures(row, its, percentileError) {
  assert.equal(row.executions, truth.executions(its));
  assertClose(row.total_time, 1000 * truth.totalSeconds(its), 'total time');
  assertClose(row.share, truth.totalSeconds(its) / truth.totalSeconds(events), 'share');
  assertClose(row.p95, truth.percentile(its, 0.95), 'p95', percentileError);
}

function wholeMinutes(rows) {
  return rows.filter((row) => row.time >= start && row.time < end);
}

function lastWholeMinute() {
  return Math.floor(Date.now() / MINUTE) * MINUTE;
}

/** What the dashboards call a log file. */
function labelOf(file) {
  return `${file.instance} · ${file.log.split('/').at(-1)}`;
}

function minuteOf(time) {
  return (time - start) / MINUTE;
}
