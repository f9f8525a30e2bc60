// What the tests of all dashboards ask of what a browser shows.

import assert from 'node:assert/strict';

/** Titles of the charts and single numbers of each dashboard by slug and chart, from the files of dashboards/ (conftest.py). */
const PANELS = JSON.parse(process.env.PANELS ?? '{}');

/** Every chart of the dashboard is there, without trouble, and shows something; nothing of the drawn tabs is cut off. */
export async function assertDrawn(browser, slug) {
  await assertShown(browser, slug);
  await assertNothingCutOff(browser);
}

/** Every chart of the dashboard is there, without trouble, and shows something. */
export async function assertShown(browser, slug) {
  const charts = await browser.charts();
  assertComplete(charts, slug);
  for (const chart of charts) {
    assert.equal(chart.failed, false, `${chart.title}: ${chart.text}`);
    assert.equal(chart.empty, false, `${chart.title} shows nothing`);
    assert.ok(chart.data?.length > 0, `${chart.title} got no rows`);
  }
}

/** These are the charts of the dashboard, all of them. */
export function assertComplete(charts, slug) {
  assert.deepEqual(charts.map(({ title }) => title).sort(), Object.values(PANELS[slug]).flat().sort(), `charts of ${slug}`);
}

/** A number as it is shown with how much is known of it (sql/queries/parts/unknown_values.sql). */
export function ofKnown(number, known, all, things) {
  const [shown, whole, rest] = [number, all, all - known].map((each) => each.toLocaleString('en-US'));
  const about = known === all ? `of ${whole} ${things}` : `of ${known.toLocaleString('en-US')} known, ${rest} unknown`;
  return `${shown}<em>${about}</em>`;
}

/** The number of a row of numbers is a link to this path, and shows this text; what follows is `below` it. */
export async function assertLinked(charts, title, metric, text, path) {
  const [, href, shown] = /^<a href="([^"]+)">([^<]*)<\/a>/.exec((await one(charts, title))[metric]) ?? [];
  assert.equal(shown, typeof text === 'number' ? text.toLocaleString('en-US') : text, title);
  assert.ok(href.startsWith(path), `${title} leads to ${href}`);
  return href;
}

/** Everything is within its panel. */
export async function assertNothingCutOff(browser) {
  assert.deepEqual(await browser.cutOff(), []);
}

/** Where there is nothing to show, no chart fails. */
export async function assertNoneFailed(browser) {
  for (const chart of await browser.charts()) {
    assert.equal(chart.failed, false, `${chart.title}: ${chart.text}`);
  }
}

/** Equal within a relative error, by default but for the order of additions; both missing is equal too. */
export function assertClose(actual, expected, what = '', error = 1e-9) {
  if (expected === undefined || expected === null) {
    assert.equal(actual ?? null, null, what);
    return;
  }
  const difference = Math.abs(actual - expected);
  assert.ok(difference <= error * Math.abs(expected) + 1e-12, `${what}: expected ${expected}, shown ${actual}`);
}

/** The only row of a big number. */
export async function one(browser, title) {
  return (await browser.chart(title)).data[0];
}

/** What the dashboards call a statement: 16 hexadecimal digits of its `query_id`. */
export function queryIdOf(row) {
  return BigInt(row.query_id).toString(16).toUpperCase().padStart(16, '0');
}
