// Assertions about a dashboard in a browser, for the tests of all dashboards.

import assert from 'node:assert/strict';

/** Titles of charts and numbers, by slug and chart, from the files of dashboards/ (conftest.py). */
const PANELS = JSON.parse(process.env.PANELS ?? '{}');

/** Asserts that each chart of the dashboard exists, has no error and shows data, and that the drawn tabs cut nothing off. */
export async function assertDrawn(browser, slug) {
  await assertShown(browser, slug);
  await assertNothingCutOff(browser);
}

/** Asserts that each chart of the dashboard exists, has no error and shows data. */
export async function assertShown(browser, slug) {
  const charts = await browser.charts();
  assertComplete(charts, slug);
  for (const chart of charts) {
    assert.equal(chart.failed, false, `${chart.title}: ${chart.text}`);
    assert.equal(chart.empty, false, `${chart.title} shows nothing`);
    assert.ok(chart.data?.length > 0, `${chart.title} got no rows`);
  }
}

/** Asserts that these are all charts of the dashboard. */
export function assertComplete(charts, slug) {
  assert.deepEqual(charts.map(({ title }) => title).sort(), Object.values(PANELS[slug]).flat().sort(), `charts of ${slug}`);
}

/** Returns the text of a number with the number of items for which it is known (sql/queries/parts/unknown_values.sql). */
export function ofKnown(number, known, all, things) {
  const [shown, whole, rest] = [number, all, all - known].map((each) => each.toLocaleString('en-US'));
  const about = known === all ? `of ${whole} ${things}` : `of ${known.toLocaleString('en-US')} known, ${rest} unknown`;
  return `${shown}<em>${about}</em>`;
}

/** Asserts that a number of a row is a link to this path and shows this text, with the text `below` under it. */
export async function assertLinked(charts, title, metric, text, path) {
  const [, href, shown] = /^<a href="([^"]+)">([^<]*)<\/a>/.exec((await one(charts, title))[metric]) ?? [];
  assert.equal(shown, typeof text === 'number' ? text.toLocaleString('en-US') : text, title);
  assert.ok(href.startsWith(path), `${title} leads to ${href}`);
  return href;
}

/** Asserts that each panel shows its whole content. */
export async function assertNothingCutOff(browser) {
  assert.deepEqual(await browser.cutOff(), []);
}

/** Asserts that no chart fails in a range without data. */
export async function assertNoneFailed(browser) {
  for (const chart of await browser.charts()) {
    assert.equal(chart.failed, false, `${chart.title}: ${chart.text}`);
  }
}

/** Asserts equality within a relative error. The default error allows another order of additions. Two missing values are equal. */
export function assertClose(actual, expected, what = '', error = 1e-9) {
  if (expected === undefined || expected === null) {
    assert.equal(actual ?? null, null, what);
    return;
  }
  const difference = Math.abs(actual - expected);
  assert.ok(difference <= error * Math.abs(expected) + 1e-12, `${what}: expected ${expected}, shown ${actual}`);
}

/** Returns the only row of a big number. */
export async function one(browser, title) {
  return (await browser.chart(title)).data[0];
}

/** Returns the name of a statement in dashboards: the 16 hexadecimal digits of its `query_id`. */
export function queryIdOf(row) {
  return BigInt(row.query_id).toString(16).toUpperCase().padStart(16, '0');
}
