// Errors and InnoDB pressure in a real browser. The tests compare them with the known values of the workload. Environment:
// as for developer.test.mjs.

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertClose, assertComplete, assertNoneFailed, one } from './assertions.mjs';
import {
  ABORTED, comparedRange, comparedStatements, CONSTANT, HISTORY, LOCK_SECONDS, PAGES, POLLED_SECONDS, RETUNED, SLOWER,
} from './developer_workload.mjs';
import { end, MINUTE } from './time.mjs';
import * as expectedValues from './expected_values.mjs';
import { browser, keepPicture, testDrawing, visitAs } from './browser_session.mjs';

visitAs('developer');

const { events } = comparedStatements(end);
const range = comparedRange(end);
const shown = expectedValues.within(events, range);

describe('Errors', () => {
  const failed = shown.filter((event) => event.error_code === 1205);

  before(() => browser.open('errors', { range: [range.from, range.to] }));

  test('draws every chart except the chart of a connection, which is empty until a connection is chosen', async () => {
    await assertNoneFailed(browser);
    const charts = await browser.charts();
    assertComplete(charts, 'errors');
    assert.deepEqual(charts.filter((chart) => chart.empty).map((chart) => chart.title), ['Statements of the connection']);
    await keepPicture(browser, 'errors');
  });

  test('counts errors', async () => {
    assert.equal((await one(browser, 'Deadlocks')).cnt_deadlocks, 1);
    assert.equal((await one(browser, 'Aborted connections')).cnt_aborted, 1);
    assert.equal((await one(browser, 'Crashes')).cnt_crashes, 1);
    assert.equal((await one(browser, 'Restarts')).cnt_restarts, 1);
    assert.match((await one(browser, 'Failed statements')).shown_failed, new RegExp(`^${failed.length}<em>known on \\d`));
    assert.match((await one(browser, 'Lock wait timeouts')).shown_timeouts, new RegExp(`^${failed.length}<em>known on \\d`));
  });

  test('draws the whole range, in bars of two minutes', async () => {
    for (const title of ['Number of messages by kind over time', 'Number of failed executions by error over time']) {
      const { data } = await browser.chart(title);
      assert.deepEqual([data.length, data[0].time, data.at(-1).time], [60, range.from, range.to - 2 * MINUTE], title);
    }
  });

  test('states the meaning of an empty chart', async () => {
    assert.deepEqual(await browser.saysWhenEmpty('Statements of the connection'), [
      'No connection is chosen, or the slow log has no entries of it',
      'Click connection next to a message, or choose one in the filter',
    ]);
  });

  test('lists messages that may need attention, newest first, and both statements of a deadlock', async () => {
    const messages = (await browser.chart('Error log messages')).data;
    assert.deepEqual(messages.map((row) => row.what), ['restart', 'crash', 'innodb pressure', 'aborted connection', 'deadlock']);
    const [deadlock] = (await browser.chart('Deadlocks and their statements')).data;
    assert.deepEqual([deadlock.first_statement, deadlock.first_who, deadlock.second_who, deadlock.victim],
      ['update ledgers set total = total + ? where id = ?', 'ledger from 10.2.0.7, connection 7', 'unknown, connection 8', 'second: unknown']);
  });

  test('states the meaning of the error codes of failed statements', async () => {
    const [row] = (await browser.chart('Number of failed executions by error and query')).data;
    assert.deepEqual([row.error, row.query_id, row.cnt_failed], ['1205 lock wait timeout', SLOWER, failed.length]);
    const drawn = (await browser.chart('Number of failed executions by error over time')).data;
    assert.equal(expectedValues.sum(drawn, (bucket) => bucket['1205 lock wait timeout'] ?? 0), failed.length);
  });

  test('links a message to the statements of its connection', async () => {
    const ofConnection = await browser.linked(await browser.href('Error log messages', 'connection'));
    const { data } = await ofConnection.chart('Statements of the connection');
    assert.deepEqual(data.map((row) => [row.connection_id, row.error]), failed.map(() => [String(ABORTED), '1205 lock wait timeout']));
    await assertNoneFailed(ofConnection);
  });
});

describe('InnoDB pressure', () => {
  const its = expectedValues.of(shown, CONSTANT, SLOWER);

  before(() => browser.open('innodb', { range: [range.from, range.to] }));

  testDrawing('innodb');

  test('sums the wait times of statements by kind, and lists the statements', async () => {
    assertClose((await one(browser, 'Lock time')).lock_seconds, LOCK_SECONDS * its.length, 'lock time');
    assertClose((await one(browser, 'Row lock wait')).row_lock_wait_seconds, 0.005 * its.length, 'row lock wait');
    assertClose((await one(browser, 'Read from disk')).sum_read_bytes, 32_768 * its.length, 'bytes');
    const [first] = (await browser.chart('Lock wait time (s) by statement')).data;
    assert.deepEqual([first.query_id, first.pages_each], [SLOWER, PAGES]);
  });

  test('shows who waited for a metadata lock, and servers whose waits are not read', async () => {
    assert.equal((await one(browser, 'Sessions that waited for metadata locks')).cnt_waits, 1);
    assert.equal((await one(browser, 'Longest wait for a metadata lock')).longest_wait_seconds, POLLED_SECONDS.at(-1));
    assert.equal((await one(browser, 'Idle sessions with a lock')).cnt_idle, 1);
    const waits = (await browser.chart('Waits for metadata locks by session')).data;
    assert.deepEqual(waits.map((row) => [row.locked_object, row.waiter, row.holder]),
      [['table ledger.entries', 'dba_mara from localhost, connection 70', 'ledger from app-1, connection 71']]);
    const polls = (await browser.chart('Number of polls of metadata locks by server')).data;
    assert.deepEqual(Object.fromEntries(polls.map((row) => [row.instance, row.state])), { [CONSTANT]: 'read', [RETUNED]: 'not read' });
  });

  test('shows messages of InnoDB, and servers without InnoDB data', async () => {
    assert.equal((await one(browser, 'InnoDB messages logged')).cnt_messages, (await browser.chart('InnoDB messages')).data.length);
    assert.equal((await one(browser, 'Longest history list')).max_history, HISTORY);
    const { data } = await browser.chart('Logged InnoDB counters and messages by server');
    const counted = Object.fromEntries(data.map((row) => [row.instance, row.counters.startsWith('yes')]));
    assert.deepEqual(counted, { [CONSTANT]: true, [RETUNED]: false });
  });
});
