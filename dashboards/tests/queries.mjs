// Query detail, Plans and Traces in a real browser. The tests compare them with the known values of the workload.
// Environment: as for developer.test.mjs.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { assertClose, assertDrawn, ofKnown, one, queryIdOf } from './assertions.mjs';
import { hrefIn } from './browser.mjs';
import { end } from './time.mjs';
import * as expectedValues from './expected_values.mjs';
import { browser, keepPicture, testDrawing, visitAs } from './browser_session.mjs';
import { slowQueries } from './workload.mjs';

visitAs('developer');

const TEN_MINUTES = 600_000; // width of the time buckets in a range of a day
const HEAVIEST = 'C0A4E6129F7BD835'; // it has two plans
const ERRING = 'E85A1C6094B3DF72';

const { events, plans, planChanges, spans } = slowQueries(end);

describe('Query detail', () => {
  before(() => browser.open('query-detail'));

  test('draws every chart for the statement with the most total time', async () => {
    await assertDrawn(browser, 'query-detail');
    await keepPicture(browser, 'query-detail');
    const [heaviest] = expectedValues.heaviestBy(events, queryIdOf)[0];
    assert.equal(heaviest, HEAVIEST);
    await assertStatement(HEAVIEST);
  });

  test('shows percentiles and executions in each bucket of time', async () => {
    const perBucket = expectedValues.groupBy(of(HEAVIEST), (event) => Math.floor(expectedValues.timeOf(event) / TEN_MINUTES) * TEN_MINUTES);
    const latency = (await browser.chart('Latency p50, p95, p99 (s) of the statement')).data;
    const volume = (await browser.chart('Number of executions and failed executions over time')).data;
    for (const row of latency) {
      const its = perBucket.get(row.time) ?? [];
      for (const level of [50, 95, 99]) {
        assertClose(row[`p${level}`], expectedValues.percentile(its, level / 100), `p${level} at ${new Date(row.time).toISOString()}`);
      }
    }
    // The requests of the two charts may be in different time buckets, which changes the first bucket of the last day.
    volume.forEach((row) => assert.equal(row.executions, expectedValues.executions(perBucket.get(row.time) ?? [])));
    assert.equal(expectedValues.sum(volume, (row) => row.executions), expectedValues.executions(of(HEAVIEST)));
  });

  test('shows the median latency and the time ranges of each plan', async () => {
    const medians = (await browser.chart('Median latency (s) by plan')).data;
    const periods = (await browser.chart('Time ranges of executions by plan')).data;
    for (const [hash, its] of expectedValues.groupBy(of(HEAVIEST), (event) => event.plan_hash)) {
      const perBucket = expectedValues.groupBy(its, (event) => Math.floor(expectedValues.timeOf(event) / TEN_MINUTES) * TEN_MINUTES);
      for (const row of medians) {
        assertClose(row[hash], expectedValues.percentile(perBucket.get(row.time) ?? [], 0.5), `${hash} at ${row.time}`);
      }
      const shown = periods.filter((row) => row.plan.startsWith(hash));
      assert.equal(expectedValues.sum(shown, (row) => row.cnt_executions), its.length);
      for (const event of its) {
        const at = expectedValues.timeOf(event);
        assert.ok(shown.some((row) => row.plan.endsWith(event.instance) && row.from_time <= at && at < row.to_time));
      }
    }
    assert.equal(periods.length, 4, 'one server had one plan, the other went back to it');
  });

  test('lists the plans with their cost, verdict and advice, and draws their trees', async () => {
    const { data } = await browser.chart('Plans of the statement');
    const expected = expectedValues.heaviestBy(of(HEAVIEST), (event) => `${event.plan_hash} ${event.instance}`);
    assert.deepEqual(data.map((row) => `${row.plan_hash} ${row.instance}`), expected.map(([key]) => key));
    data.forEach((row, i) => {
      assertClose(row.seconds, expectedValues.totalSeconds(expected[i][1]));
      assertClose(row.p95, expectedValues.percentile(expected[i][1], 0.95));
      assert.equal(row.executions, expectedValues.executions(expected[i][1]));
    });
    assert.deepEqual(data.map((row) => row.verdict), ['slower, 6.9 times as long', '', 'faster, 0.14 times as long']);
    const trees = (await browser.chart('Plan trees')).data;
    const steps = new Map(plans.filter((plan) => queryIdOf(plan) === HEAVIEST).map((plan) => [plan.plan_hash, plan.tree.split('\n')]));
    assert.equal(trees.length, 1 + expectedValues.sum([...steps.values()], (lines) => lines.length), 'every step, and the root');
    assert.ok(trees.every((row) => row.node === 'root' || trees.some((other) => other.node === row.parent)));
  });

  test('lists the requests that ran it, with the log entry of the same span', async () => {
    const [endpoint] = (await browser.chart('Database time (s) and number of requests by endpoint')).data;
    const its = spans.filter((span) => span.query_id && queryIdOf(span) === HEAVIEST);
    assert.deepEqual([endpoint.endpoint, endpoint.requests, endpoint.calls], ['GET /reports/best-sellers', its.length, its.length]);
    const longest = (await browser.chart('Spans of the statement by duration (s)')).data;
    const logged = new Map(events.map((event) => [event.trace_id, event]));
    assert.deepEqual(longest.map((row) => row.seconds),
      its.map((span) => span.Duration / 1e9).sort((a, b) => b - a).slice(0, longest.length));
    longest.forEach((row) => assert.equal(row.server_seconds, logged.get(row.trace_id).query_time));
  });

  test('applies the filter of a statement', async () => {
    const erring = browser.filtered({ query_id: ERRING });
    await assertStatement(ERRING, erring);
    const failed = of(ERRING).filter((event) => event.error_code);
    assert.ok(failed.length > 0);
    const known = of(ERRING).filter((event) => event.error_code !== null && event.error_code !== undefined);
    assert.equal((await one(erring, 'Failed')).shown_failed, ofKnown(failed.length, known.length, of(ERRING).length, 'executions'));
    for (const title of ['Plans of the statement', 'Plan trees', 'Database time (s) and number of requests by endpoint']) {
      const chart = await erring.chart(title);
      assert.ok(chart.empty && !chart.failed, `${title}: ${chart.text}`);
    }
  });
});

describe('Plans', () => {
  before(() => browser.open('plans'));

  testDrawing('plans');

  test('shows changes with their verdicts', async () => {
    const { data } = await browser.chart('Plan changes');
    assert.deepEqual(data.map((row) => [row.new_plan, row.verdict]),
      planChanges.map((change) => [change.new_plan, change.verdict]).reverse());
    assert.equal((await one(browser, 'Slower since')).slower, 1);
  });

  test('sorts advice by total time', async () => {
    const { data } = await browser.chart('Advice by total time (s)');
    const expected = plans.flatMap((plan) => plan.advice.map((line) => {
      const its = events.filter((event) => event.plan_hash === plan.plan_hash && event.instance === plan.instance);
      return { line, seconds: expectedValues.totalSeconds(its) };
    })).sort((a, b) => b.seconds - a.seconds);
    assert.deepEqual(data.map((row) => row.seconds.toFixed(3)), expected.map((each) => each.seconds.toFixed(3)));
    assert.deepEqual(new Set(data.map((row) => [row.kind, row.advice, row.evidence].join(' · '))), new Set(expected.map((each) => each.line)));
    data.forEach((row) => assertClose(row.part, row.seconds / expectedValues.totalSeconds(events)));
  });

  test('draws the tree of the plan with the most total time', async () => {
    const [heaviest] = expectedValues.heaviestBy(events.filter((event) => event.plan_hash), (event) => event.plan_hash)[0];
    const { data } = await browser.chart('Plan tree');
    assert.deepEqual(data.filter((row) => row.parent === 'root').map((row) => row.label), [`plan ${heaviest}`]);
  });

  test('links to the statement, and from there to one plan', async () => {
    const statement = await browser.linked(await browser.href('Advice by total time (s)', 'open'));
    await assertStatement(HEAVIEST, statement);
    const linked = await browser.linked(hrefIn((await statement.chart('Plans of the statement')).data, 'tree'));
    const plan = plans.find((each) => queryIdOf(each) === HEAVIEST && each.tables[0] === 'p');
    const { data } = await linked.chart('Plan tree');
    assert.equal(data.length, 1 + plan.tree.split('\n').length);
    assert.deepEqual(data.filter((row) => row.parent === 'root').map((row) => row.label), [`plan ${plan.plan_hash}`]);
  });
});

describe('Traces', () => {
  before(() => browser.open('traces'));

  testDrawing('traces');

  test('sorts endpoints by database time', async () => {
    const { data } = await browser.chart('Database time (s) by endpoint');
    const endpoints = new Map(spans.filter((span) => span.endpoint).map((span) => [span.TraceId, span.endpoint]));
    const calls = expectedValues.groupBy(spans.filter((span) => span.query_id), (span) => endpoints.get(span.TraceId));
    for (const row of data) {
      const its = calls.get(row.endpoint);
      assertClose(row.database_seconds, expectedValues.sum(its, (span) => span.Duration / 1e9));
      assertClose(row.queries_each, its.length / new Set(its.map((span) => span.TraceId)).size);
    }
    assert.equal(data.length, calls.size);
  });

  test('lists the request with a repeated query', async () => {
    const { data } = await browser.chart('Number of N+1 requests by endpoint and query');
    const loops = spans.filter((span) => span.endpoint === 'GET /reports/best-sellers').length;
    assert.deepEqual(data.map((row) => [row.endpoint, row.loops, row.most_repeats]), [['GET /reports/best-sellers', loops, 6]]);
  });

  test('links a slow query to its trace, to the statement, to Slow queries and back', async () => {
    const slowest = events.filter((event) => event.trace_id).sort((a, b) => b.query_time - a.query_time)[0];
    const traced = await browser.linked(await browser.href('Slow queries and their requests', 'trace'));
    const shown = (await traced.chart('Spans of a trace')).data;
    assert.deepEqual(shown.map((row) => row.span_id).sort(),
      spans.filter((span) => span.TraceId === slowest.trace_id).map((span) => span.SpanId).sort());
    const statement = await browser.linked(hrefIn(shown, 'open'));
    await assertStatement(queryIdOf(slowest), statement);
    const links = (await statement.chart('Statement')).data;
    const slow = await browser.linked(hrefIn(links, 'Slow queries'));
    assert.equal((await one(slow, 'Executions')).executions, expectedValues.executions(of(queryIdOf(slowest))));
    const again = await browser.linked(hrefIn((await slow.chart('Total time (s) by query')).data, 'open'));
    await assertStatement(queryIdOf(slowest), again);
    const requests = await browser.linked(hrefIn((await again.chart('Statement')).data, 'Traces'));
    const endpoints = (await requests.chart('Database time (s) by endpoint')).data;
    assert.deepEqual(endpoints.map((row) => row.endpoint), ['GET /reports/best-sellers']);
  });
});

describe('Traces from the list of dashboards', () => {
  test('begins with its first tab, also after a link to another tab', async () => {
    const { page } = browser;
    await browser.follow('/superset/dashboard/traces/#TAB-traces-one-trace');
    const tab = page.locator('.dashboard [role=tab][aria-selected=true]').first();
    assert.equal(await tab.innerText(), 'One trace');
    await browser.list();
    await page.getByRole('link', { name: 'Traces', exact: true }).first().click();
    await page.waitForSelector('[data-test-viz-type]', { state: 'attached' });
    assert.equal(await tab.innerText(), 'Which endpoints are slow?');
  });
});

/** Asserts that Query detail shows this statement, with the numbers of its executions. */
async function assertStatement(id, charts = browser) {
  const its = of(id);
  const [shown] = (await charts.chart('Statement')).data;
  assert.equal(shown.query_id, id);
  assert.equal((await one(charts, 'Executions')).executions, expectedValues.executions(its));
  assertClose((await one(charts, 'Total time')).total_seconds, expectedValues.totalSeconds(its), 'total time');
  assertClose((await one(charts, 'Latency p95')).p95, expectedValues.percentile(its, 0.95), 'p95');
  for (const [title, column] of [['Total time (s) by user', 'user'], ['Total time (s) by program or host', 'host'], ['Total time (s) by instance', 'instance']]) {
    const { data } = await charts.chart(title);
    const expected = expectedValues.heaviestBy(its, (event) => event[column]);
    assert.deepEqual(data.map((row) => row[column === 'host' ? 'program' : column]), expected.map(([value]) => value), title);
    data.forEach((row, i) => assertClose(row.total_seconds, expectedValues.totalSeconds(expected[i][1]), title));
  }
}

function of(id) {
  return events.filter((event) => queryIdOf(event) === id);
}
