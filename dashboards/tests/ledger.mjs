// The dashboard Ledger in a real browser. The tests compare it with the known values of the workload. Environment: as for
// developer.test.mjs.

import assert from 'node:assert/strict';

import { before, describe, test } from 'node:test';
import { one } from './assertions.mjs';
import { end, MINUTE } from './time.mjs';
import * as expectedValues from './expected_values.mjs';
import { browser, testDrawing, visitAs } from './browser_session.mjs';
import { logFiles, MINUTES } from './workload.mjs';

visitAs('developer');

const start = end - MINUTES * MINUTE;
const books = logFiles(end);

describe('Ledger', () => {
  before(() => browser.open('books'));

  testDrawing('books');

  test('shows each interval of covered, behind, missing and unknown minutes', async () => {
    const { data } = await browser.chart('Coverage state by file over time');
    for (const file of books.files) {
      const label = labelOf(file);
      const shown = data.filter((row) => row.file === label && row.from_time < end && row.to_time > start)
        .map((row) => ({ state: row.state, from: Math.max(0, minuteOf(row.from_time)), to: Math.min(MINUTES, minuteOf(row.to_time)) }));
      assert.deepEqual(shown, expectedValues.intervals(file.states), label);
    }
    const unwatched = data.filter((row) => row.from_time < start || row.to_time > end);
    assert.equal(unwatched.filter((row) => row.from_time < start).length, books.files.length);
    assert.ok(unwatched.every((row) => row.state === 'unknown'), 'there is no census before and after the workload');
  });

  test('shows the totals of the workload', async () => {
    assert.equal((await one(browser, 'Bytes missing')).sum_missing, expectedValues.sum(books.files, (file) => file.gapBytes));
    assert.equal((await one(browser, 'Bytes behind')).sum_behind, expectedValues.sum(books.files, (file) => file.behind));
    assert.equal((await one(browser, 'Dead letters')).open_letters, books.deadLetters.length);
    assert.equal((await one(browser, 'Unexplained')).unexplained, 0);
  });

  test('shows the balance of each file', async () => {
    const { data } = await browser.chart('Ledger balance (bytes) by file');
    for (const file of books.files) {
      const its = data.filter((row) => row.file === labelOf(file));
      assert.equal(expectedValues.sum(its, (row) => row.sum_events), file.events, `${labelOf(file)}: events`);
      assert.equal(expectedValues.sum(its, (row) => row.sum_dead_letters), file.deadLetters);
      assert.equal(expectedValues.sum(its, (row) => row.sum_duplicates), file.duplicates);
      assert.equal(expectedValues.sum(its, (row) => row.sum_gap_bytes), file.gapBytes);
      assert.equal(expectedValues.sum(its, (row) => row.sum_behind), file.behind);
    }
  });

  test('lists the missing bytes of the gap, and dead letters by code', async () => {
    const gaps = (await browser.chart('Gaps by file')).data;
    assert.equal(expectedValues.sum(gaps, (gap) => gap.missing_bytes), expectedValues.sum(books.files, (file) => file.gapBytes));
    const letters = (await browser.chart('Number of dead letters by code and file')).data;
    const expected = expectedValues.groupBy(books.deadLetters, (letter) => letter.code);
    assert.deepEqual(Object.fromEntries(letters.map((row) => [row.code, row.open_letters])),
      Object.fromEntries([...expected].map(([code, its]) => [code, its.length])));
  });

  test('shows unread bytes over time', async () => {
    const { data } = await browser.chart('Unread bytes by file over time');
    for (const file of books.files) {
      const label = labelOf(file);
      assert.equal(data.at(-1)[label], file.behind, label);
    }
  });

  test('applies the filter of the instance', async () => {
    const second = browser.filtered({ instance: 'shop-db-2' });
    const { data } = await second.chart('Coverage state by file over time');
    assert.deepEqual([...new Set(data.map((row) => row.file))], ['shop-db-2 · slow.log']);
    assert.equal((await one(second, 'Bytes behind')).sum_behind, 0);
  });
});

/** The name of a log file in dashboards. */
function labelOf(file) {
  return `${file.instance} · ${file.log.split('/').at(-1)}`;
}

function minuteOf(time) {
  return (time - start) / MINUTE;
}
