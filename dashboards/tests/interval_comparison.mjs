// Slow queries compared with the preceding interval, checked against the known values of the workload. slow_queries.mjs
// and queries.mjs open both dashboards first. Environment: as for developer.test.mjs.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertClose, assertLinked, assertShown, one } from './assertions.mjs';
import { address, hrefIn } from './browser.mjs';
import {
  comparedRange, comparedStatements, CONSTANT, NEW, RETUNED, ROUTE, SLOWED, SLOWER,
} from './developer_workload.mjs';
import { end, MINUTE } from './time.mjs';
import * as expectedValues from './expected_values.mjs';
import { browser } from './browser_session.mjs';

const COMPARED = 'New and slower statements, compared with the preceding interval';

const { events } = comparedStatements(end);
const range = comparedRange(end);
const shown = expectedValues.within(events, range);

/** The query id in a link to the details of a statement. */
const idIn = (link) => /'([0-9A-F]{16})'/.exec(decodeURIComponent(link))[1];

describe('Slow queries, compared with the preceding interval', () => {
  let charts;
  let statement;

  before(async () => {
    charts = await browser.reopened('slow-queries', { range: [range.from, range.to] });
  });

  test('receives data for every chart', () => assertShown(charts, 'slow-queries'));

  test('shows new and slower statements of a server with unchanged logging settings', async () => {
    const rows = (await charts.chart(COMPARED)).data.filter((row) => row.instance === CONSTANT);
    assert.deepEqual(rows.map((row) => [idIn(row.link), row.verdict]), [[SLOWER, 'slower'], [NEW, 'new']]);
    const [slower, fresh] = rows;
    assertClose(slower.p95_now / slower.p95_before, SLOWED, 'ratio');
    assert.match(slower.grew, /^p95\s.*\s→\s.*; total\stime\s.*\s→\s/);
    assertClose(slower.p95_now, expectedValues.percentile(expectedValues.of(shown, CONSTANT, SLOWER), 0.95), 'p95 now');
    const before = expectedValues.of(events.filter((event) => expectedValues.timeOf(event) < range.from), CONSTANT, SLOWER);
    assertClose(slower.p95_before, expectedValues.percentile(before, 0.95), 'p95 before');
    assert.deepEqual([slower.executions_before, slower.executions_now], [before.length, before.length]);
    assertClose(slower.seconds_now, expectedValues.totalSeconds(expectedValues.of(shown, CONSTANT, SLOWER)), 'total time');
    assert.equal(slower.logged, '≥ 0.1 s');
    assert.equal(fresh.p95_before, null);
  });

  test('does not compare across a change of the threshold, and states the reason', async () => {
    const rows = (await charts.chart(COMPARED)).data.filter((row) => row.instance === RETUNED);
    assert.deepEqual(new Set(rows.map((row) => idIn(row.link))), new Set([SLOWER, NEW]));
    for (const row of rows) {
      assert.equal(row.verdict, 'not comparable');
      assert.equal(row.grew, '');
      assert.match(row.reason, /^the server logs differently since .* UTC: ≥ 0\.5 s → ≥ 0\.1 s$/);
    }
  });

  test('shows the threshold over time', async () => {
    const { data } = await charts.chart('Threshold (s) and sampling by server over time');
    const its = data.filter((row) => row.instance === RETUNED);
    assert.deepEqual(its.map((row) => [row.from_time, row.to_time, row.logged]),
      [[range.from, range.changed, '≥ 0.5 s'], [range.changed, range.to, '≥ 0.1 s']]);
    const listed = (await charts.chart('Observed logging settings')).data.find((row) => row.instance === RETUNED);
    assert.deepEqual([listed.logged, listed.changed, listed.entries], ['≥ 0.5 s → ≥ 0.1 s', 1, expectedValues.of(shown, RETUNED).length]);
    const [first] = (await charts.chart('Total time (s) by instance')).data.filter((row) => row.instance === CONSTANT);
    assert.equal(first.logged_as, '≥ 0.1 s');
  });

  test('states the logging settings in one line, with a link to the details', async () => {
    const text = 'slow log ≥ 0.1 s, ≥ 0.5 s → ≥ 0.1 s on 2 of 2 servers · coverage unknown';
    const href = await assertLinked(charts, 'Data limits', 'linked_limits', text, '/superset/dashboard/slow-queries/?');
    assert.ok(href.endsWith('#TAB-slow-queries-data-limits'));
  });

  test('computes percentiles of the range over the entries since the change', async () => {
    const row = (await charts.chart('Total time (s) by instance')).data.find((each) => each.instance === RETUNED);
    assert.equal(row.p95, null, 'all that it logged was before the change');
    const its = expectedValues.of(shown, CONSTANT);
    assertClose((await one(charts, 'Latency p95')).p95, expectedValues.percentile(its, 0.95), 'p95', expectedValues.BUCKET_ERROR);
    assertClose((await one(charts, 'Latency p99')).p99, expectedValues.percentile(its, 0.99), 'p99', expectedValues.BUCKET_ERROR);
  });

  test('draws no percentile in the minute of the change', async () => {
    const { data } = await charts.chart('Latency p50, p95, p99 (s)');
    assert.equal(data.find((row) => row.time === range.changed).p95, null);
    const minute = Math.floor(expectedValues.timeOf(shown[0]) / MINUTE) * MINUTE;
    assert.ok(data.find((row) => row.time === minute).p95 > 0);
  });

  test('groups by the endpoint of the comment', async () => {
    const { data } = await charts.chart('Total time (s) by endpoint');
    const [tagged] = data.filter((row) => row.endpoint === ROUTE);
    const its = shown.filter((event) => event.tags.route === ROUTE);
    assert.deepEqual([tagged.application, tagged.executions, tagged.queries], ['ledger-web', its.length, 1]);
    assertClose(tagged.total_seconds, expectedValues.totalSeconds(its), 'total time');
    assertClose(tagged.p95, expectedValues.percentile(its, 0.95), 'p95');
  });

  test('applies the filter of the instance, and links to the statement', async () => {
    const ofOne = await browser.reopened('slow-queries', { range: [range.from, range.to], instance: CONSTANT });
    const rows = (await ofOne.chart(COMPARED)).data;
    assert.deepEqual(rows.map((row) => row.instance), [CONSTANT, CONSTANT]);
    statement = await browser.linked(hrefIn(rows, 'open'));
    assert.equal((await one(statement, 'Statement')).query_id, SLOWER);
  });

  test('shows the logging settings of the servers of the statement only', async () => {
    const { data } = await statement.chart('Threshold (s) and sampling by server over time');
    assert.deepEqual(data.map((row) => [row.instance, row.logged]),
      [[CONSTANT, '≥ 0.1 s'], [RETUNED, '≥ 0.5 s'], [RETUNED, '≥ 0.1 s']]);
    const latency = (await statement.chart('Latency p50, p95, p99 (s) of the statement')).data;
    assert.equal(latency.find((row) => row.time === range.changed).p95, null);
  });

  test('keeps the time range in another dashboard that the menu opens', async () => {
    const stored = browser.page.waitForResponse((response) => response.url().includes('/filter_state') && response.ok());
    const parsed = { waitUntil: 'domcontentloaded' };
    await browser.page.goto(`${browser.url}/superset/dashboard/slow-queries/${address({ range: [range.from, range.to] })}`, parsed);
    await stored;
    await browser.page.goto(`${browser.url}/superset/dashboard/errors/`, parsed);
    const [from, to] = [range.from, range.to].map((time) => new Date(time).toISOString().slice(0, 16).replace('T', ' '));
    await browser.page.locator('[data-test="time-range-trigger"]', { hasText: `${from} to ${to} UTC` }).waitFor();
    await browser.page.context().clearCookies({ name: 'tailrace_range' });
  });
});
