// What developers compare, in a real browser, held against the workload's known answers.
//
// Environment: SUPERSET_URL, ROLES (users and passwords as JSON), WORKLOAD_END as given to seed.mjs; SCREENSHOTS, a
// directory for pictures of what was seen (default: a temporary one).

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { assertClose, assertDrawn, assertNoneFailed, one, queryIdOf } from './assertions.mjs';
import {
  ABORTED, comparedRange, comparedStatements, CONSTANT, HISTORY, LOCK_SECONDS, NEW, PAGES, RETUNED, ROUTE, SLOWED, SLOWER,
} from './developer_workload.mjs';
import * as truth from './truth.mjs';
import { browser, screenshots, visitAs } from './visitor.mjs';

visitAs('developer');

const COMPARED = 'New and slower statements, compared with the preceding interval';
const MINUTE = 60_000;
const BUCKET_ERROR = 0.0101; // percentiles are read from buckets that are 2 % wide

const end = Number(process.env.WORKLOAD_END) * 1000;
const { events } = comparedStatements(end);
const range = comparedRange(end);
const shown = events.filter((event) => truth.timeOf(event) >= range.from && truth.timeOf(event) < range.to);

describe('Slow queries against the time before', () => {
  before(() => browser.open('slow-queries', { range: [range.from, range.to] }));

  test('draws every chart', async () => {
    await assertDrawn(browser, 16);
    await browser.screenshot(join(screenshots, 'slow-queries-compared.png'));
  });

  test('shows new and slower statements where the server logs as before', async () => {
    const rows = (await browser.chart(COMPARED)).data.filter((row) => row.instance === CONSTANT);
    assert.deepEqual(rows.map((row) => [row.query_id, row.verdict]), [[SLOWER, 'slower'], [NEW, 'new']]);
    const [slower, fresh] = rows;
    assertClose(slower.ratio, SLOWED, 'ratio');
    assertClose(slower.p95_now, truth.percentile(of(shown, CONSTANT, SLOWER), 0.95), 'p95 now');
    const before = of(events.filter((event) => truth.timeOf(event) < range.from), CONSTANT, SLOWER);
    assertClose(slower.p95_before, truth.percentile(before, 0.95), 'p95 before');
    assert.deepEqual([slower.executions_before, slower.executions_now], [before.length, before.length]);
    assertClose(slower.total_now, 1000 * truth.totalSeconds(of(shown, CONSTANT, SLOWER)), 'total time');
    assert.equal(slower.logged, '≥ 0.1 s');
    assert.equal(fresh.p95_before, null);
  });

  test('compares nothing across a change of the threshold, and says why', async () => {
    const rows = (await browser.chart(COMPARED)).data.filter((row) => row.instance === RETUNED);
    assert.deepEqual(new Set(rows.map((row) => row.query_id)), new Set([SLOWER, NEW]));
    for (const row of rows) {
      assert.equal(row.verdict, 'not comparable');
      assert.equal(row.ratio, null);
      assert.match(row.remark, /^the server logs differently since .* UTC: ≥ 0\.5 s → ≥ 0\.1 s$/);
    }
  });

  test('shows when which threshold was in force', async () => {
    const { data } = await browser.chart('Logging settings');
    const its = data.filter((row) => row.instance === RETUNED);
    assert.deepEqual(its.map((row) => [row.from_time, row.to_time, row.logged]),
      [[range.from, range.changed, '≥ 0.5 s'], [range.changed, range.to, '≥ 0.1 s']]);
    const listed = (await browser.chart('Observed logging settings')).data.find((row) => row.instance === RETUNED);
    assert.deepEqual([listed.logged, listed.changed, listed.entries], ['≥ 0.5 s → ≥ 0.1 s', 1, of(shown, RETUNED).length]);
    const [first] = (await browser.chart('Total time by instance')).data.filter((row) => row.instance === CONSTANT);
    assert.equal(first.logged_as, '≥ 0.1 s');
  });

  test('takes percentiles of the range over what was logged since the change', async () => {
    const row = (await browser.chart('Total time by instance')).data.find((each) => each.instance === RETUNED);
    assert.equal(row.p95, null, 'all that it logged was before the change');
    const its = of(shown, CONSTANT);
    assertClose((await one(browser, 'Latency p95')).p95, truth.percentile(its, 0.95), 'p95', BUCKET_ERROR);
    assertClose((await one(browser, 'Latency p99')).p99, truth.percentile(its, 0.99), 'p99', BUCKET_ERROR);
  });

  test('draws no percentile in the minute of the change', async () => {
    const { data } = await browser.chart('Latency p50, p95, p99');
    assert.equal(data.find((row) => row.time === range.changed).p95, null);
    const minute = Math.floor(truth.timeOf(shown[0]) / MINUTE) * MINUTE;
    assert.ok(data.find((row) => row.time === minute).p95 > 0);
  });

  test('groups by the endpoint that comments name', async () => {
    const { data } = await browser.chart('Total time by endpoint');
    const [tagged] = data.filter((row) => row.endpoint === ROUTE);
    const its = shown.filter((event) => event.tags.route === ROUTE);
    assert.deepEqual([tagged.application, tagged.executions, tagged.queries], ['ledger-web', its.length, 1]);
    assertClose(tagged.total_time, 1000 * truth.totalSeconds(its), 'total time');
    assertClose(tagged.p95, truth.percentile(its, 0.95), 'p95');
  });

  test('follows the filter for the instance, and leads to the statement', async () => {
    await browser.choose('instance', CONSTANT);
    await browser.applyFilters();
    const rows = (await browser.chart(COMPARED)).data;
    assert.deepEqual(rows.map((row) => row.instance), [CONSTANT, CONSTANT]);
    await browser.followLink(COMPARED, 'open');
    const [statement] = (await browser.chart('Statement')).data;
    assert.equal(statement.query_id, SLOWER);
  });

  test('shows of the statement what each of its servers logged, and no other', async () => {
    const { data } = await browser.chart('Logging settings');
    assert.deepEqual(data.map((row) => [row.instance, row.logged]),
      [[CONSTANT, '≥ 0.1 s'], [RETUNED, '≥ 0.5 s'], [RETUNED, '≥ 0.1 s']]);
    const latency = (await browser.chart('Latency p50, p95, p99 of the statement')).data;
    assert.equal(latency.find((row) => row.time === range.changed).p95, null);
  });
});

describe('Errors', () => {
  const failed = shown.filter((event) => event.error_code === 1205);

  before(() => browser.open('errors', { range: [range.from, range.to] }));

  test('draws every chart; only that of a connection waits until one is chosen', async () => {
    await assertNoneFailed(browser);
    const charts = await browser.charts();
    assert.deepEqual(charts.filter((chart) => chart.empty).map((chart) => chart.title), ['Statements of the connection']);
    await browser.screenshot(join(screenshots, 'errors.png'));
  });

  test('counts what went wrong', async () => {
    assert.equal((await one(browser, 'Deadlocks')).cnt_deadlocks, 1);
    assert.equal((await one(browser, 'Aborted connections')).cnt_aborted, 1);
    assert.equal((await one(browser, 'Crashes')).cnt_crashes, 1);
    assert.equal((await one(browser, 'Restarts')).cnt_restarts, 1);
    assert.equal((await one(browser, 'Failed statements')).cnt_failed, failed.length);
    assert.equal((await one(browser, 'Lock wait timeouts')).cnt_timeouts, failed.length);
  });

  test('draws the whole range, in bars of two minutes', async () => {
    for (const title of ['Messages by kind', 'Failed statements by error']) {
      const { data } = await browser.chart(title);
      assert.deepEqual([data.length, data[0].time, data.at(-1).time], [60, range.from, range.to - 2 * MINUTE], title);
    }
  });

  test('says in its own words what it means that a chart is empty', async () => {
    assert.deepEqual(await browser.saysWhenEmpty('Statements of the connection'), [
      'No connection is chosen, or the slow log has no entries of it',
      'Click connection next to a message, or choose one in the filter',
    ]);
  });

  test('lists messages that matter, the newest first, and both statements of a deadlock', async () => {
    const messages = (await browser.chart('Error log messages')).data;
    assert.deepEqual(messages.map((row) => row.what), ['restart', 'crash', 'innodb pressure', 'aborted connection', 'deadlock']);
    const [deadlock] = (await browser.chart('Deadlocks and their statements')).data;
    assert.deepEqual([deadlock.first_statement, deadlock.connection_id, deadlock.other_connection, deadlock.rolled_back],
      ['update ledgers set total = total + ? where id = ?', '7', '8', '2']);
  });

  test('says what the code means that statements failed with', async () => {
    const [row] = (await browser.chart('Failed statements by error and query')).data;
    assert.deepEqual([row.error, row.query_id, row.cnt_failed], ['1205 lock wait timeout', SLOWER, failed.length]);
    const drawn = (await browser.chart('Failed statements by error')).data;
    assert.equal(truth.sum(drawn, (bucket) => bucket['1205 lock wait timeout'] ?? 0), failed.length);
  });

  test('leads from a message to what its connection did', async () => {
    await browser.followLink('Error log messages', 'connection');
    const { data } = await browser.chart('Statements of the connection');
    assert.deepEqual(data.map((row) => [row.connection_id, row.error]), failed.map(() => [String(ABORTED), '1205 lock wait timeout']));
    await assertNoneFailed(browser);
  });
});

describe('InnoDB pressure', () => {
  const its = of(shown, CONSTANT, SLOWER);

  before(() => browser.open('innodb', { range: [range.from, range.to] }));

  test('draws every chart', async () => {
    await assertDrawn(browser, 12);
    await browser.screenshot(join(screenshots, 'innodb.png'));
  });

  test('adds up what statements waited for, and names them', async () => {
    assertClose((await one(browser, 'Lock time')).sum_lock_time, 1000 * LOCK_SECONDS * its.length, 'lock time');
    assertClose((await one(browser, 'Row lock wait')).sum_row_lock_wait, 1000 * 0.005 * its.length, 'row lock wait');
    assertClose((await one(browser, 'Read from disk')).sum_read_bytes, 32_768 * its.length, 'bytes');
    const [first] = (await browser.chart('Statements by lock wait time')).data;
    assert.deepEqual([first.query_id, first.pages_each], [SLOWER, PAGES]);
  });

  test('shows what InnoDB said itself, and which server tells nothing', async () => {
    assert.equal((await one(browser, 'InnoDB messages logged')).cnt_messages, (await browser.chart('InnoDB messages')).data.length);
    assert.equal((await one(browser, 'Longest history list')).max_history, HISTORY);
    const { data } = await browser.chart('InnoDB data available by server');
    const told = Object.fromEntries(data.map((row) => [row.instance, row.counters.startsWith('yes')]));
    assert.deepEqual(told, { [CONSTANT]: true, [RETUNED]: false });
  });
});

test('nothing leaves the machine', () => assert.deepEqual(browser.outside, []));

test('the browser reports no errors', () => assert.deepEqual(browser.errors, []));

function of(rows, instance, id) {
  return rows.filter((row) => row.instance === instance && (id === undefined || queryIdOf(row) === id));
}
