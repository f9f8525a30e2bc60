// The dashboards of each audience: listed, opened, drawn and refused ones. The tests of the first audience use a browser. Those
// of the other audiences send the same requests without a browser.
//
// Other files draw the other dashboards as a user of one of their roles. test_roles.py requests the data of every chart in
// every role. DRAW=all draws every dashboard in every role that sees it (`make test-long`).
//
// Environment: SUPERSET_URL; ROLES, a JSON object of users: {password, sees: {slug: title}, not: {slug: title}};
// CLICKHOUSE_URL and CLICKHOUSE_PASSWORD (of writer); WORKLOAD_END; SCREENSHOTS.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertClose, assertDrawn, assertLinked, one, queryIdOf } from './assertions.mjs';
import { request } from 'playwright-core';
import { Browser, logInByRequest } from './browser.mjs';
import { end } from './time.mjs';
import { visit } from './dashboard_visits.mjs';
import * as expectedValues from './expected_values.mjs';
import { keepPicture, roles } from './browser_session.mjs';
import { slowQueries } from './workload.mjs';

/** Dashboards that no other file draws, except Unmasked samples, which tests below draw. */
const DRAWN_HERE = { developer: ['developers-digest'] };
/** Titles of work pages. test_pages_access.py tests their roles. */
const WORK_PAGES = ['Alert inbox', 'Rules', 'Search', 'Queries', 'Users and clients', 'Evidence', 'Setup',
  'Retention'];
const [FIRST] = Object.keys(roles);
const browsers = {};
const sessions = [];
const SAMPLED = 'FEDCBA9876543210';
const LITERALS = ['4111 1111 1111 1111', '5500 0000 0000 0004', '3400 0000 0000 009'];

before(async () => {
  await insertSamples();
});

after(() => Promise.all([
  ...Object.values(browsers).map((browser) => browser.close()), ...sessions.map((session) => session.dispose()),
]));

for (const [user, { password, sees, not }] of Object.entries(roles)) {
  describe(`${user}`, () => {
    const drawn = process.env.DRAW === 'all' ? Object.keys(sees) : DRAWN_HERE[user] ?? [];
    const hasBrowser = user === FIRST || drawn.length > 0;
    let browser;
    let session;

    before(async () => {
      if (hasBrowser) {
        browser = browsers[user] = await Browser.launch(process.env.SUPERSET_URL);
        await (user === FIRST ? browser.logIn(user, password) : browser.logInByRequest(user, password));
      } else {
        sessions.push(await request.newContext());
        await logInByRequest(sessions.at(-1), process.env.SUPERSET_URL, user, password);
      }
      session = browser?.page.request ?? sessions.at(-1);
    });

    test('opens its overview after login', async () => {
      const overview = `${user}-overview`;
      const first = overview in sees ? `/superset/dashboard/${overview}/` : '/dashboard/list/';
      if (user === FIRST) {
        await browser.land(overview);
        await assertDrawn(browser, overview);
        const { events } = slowQueries(end);
        await assertLinked(browser, 'Executions', 'linked_executions', expectedValues.executions(events), '/superset/dashboard/slow-queries/?');
        const [, p95, unit] = />([\d.]+) (µs|ms|s)</.exec((await one(browser, 'Latency p95')).linked_p95);
        const seconds = Number(p95) * { µs: 1e-6, ms: 1e-3, s: 1 }[unit];
        assertClose(seconds, expectedValues.percentile(events, 0.95), 'p95', expectedValues.BUCKET_ERROR + 0.005); // the text has three digits
        const [heaviest] = (await browser.chart('Total time (s) by query')).data;
        assert.equal(heaviest.query_id, queryIdOf(expectedValues.heaviestBy(events, queryIdOf)[0][1][0]));
        await browser.page.locator('[data-test="actions-trigger"]').first().click();
        await browser.page.getByRole('menuitem', { name: 'Share' }).waitFor();
        await browser.page.keyboard.press('Escape');
      }
      for (const path of ['/', '/superset/welcome/']) {
        const answer = await session.get(`${process.env.SUPERSET_URL}${path}`, { maxRedirects: 0 });
        assert.deepEqual([answer.status(), new URL(answer.headers().location, process.env.SUPERSET_URL).pathname], [302, first]);
      }
    });

    test('lists its dashboards only', async () => {
      const listed = user === FIRST ? await listedOnPage(browser, sees) : await listedByAnswer(session);
      assert.deepEqual([...new Set(listed)].sort(), Object.keys(sees).sort());
    });

    test('has only dashboards and work pages in its menu', async () => {
      const page = await (await session.get(`${process.env.SUPERSET_URL}/dashboard/list/`)).text();
      const { menu } = JSON.parse(unescaped(/data-bootstrap="([^"]*)"/.exec(page)[1])).common.menu_data;
      assert.deepEqual(menu.map(({ label }) => label).filter((label) => !WORK_PAGES.includes(label)), ['Dashboards']);
      if (user === FIRST) {
        const shown = await browser.page.locator('[role="menu"], nav').first().innerText();
        assert.match(shown, /Dashboards/);
        assert.doesNotMatch(shown, /Datasets|Charts|SQL/);
      }
    });

    for (const slug of drawn) {
      test(`draws ${slug}`, async () => {
        await visit(browser, slug);
        await keepPicture(browser, user, slug);
      });
    }

    if (hasBrowser) {
      test('has no errors in the console and no refused requests', () => {
        assert.deepEqual(browser.errors, []);
        assert.deepEqual(browser.outside, []);
      });
    }

    test('cannot open dashboards of other audiences', async () => {
      const address = (slug) => `${process.env.SUPERSET_URL}/superset/dashboard/${slug}/`;
      for (const slug of Object.keys(not)) {
        const answer = await session.get(address(slug), { headers: { Accept: 'text/html' } });
        assert.equal(answer.status(), 404, slug); // the same answer as for a dashboard that does not exist
        assert.match(await answer.text(), /Page not found/);
      }
      if (user === FIRST) {
        await browser.page.goto(address(Object.keys(not)[0]));
        await browser.page.getByText('Page not found').waitFor();
      }
    });
  });
}

describe('Unmasked samples', () => {
  let browser;

  before(async () => {
    if (!browsers.unmasked) {
      browsers.unmasked = await Browser.launch(process.env.SUPERSET_URL);
      await browsers.unmasked.logInByRequest('unmasked', roles.unmasked.password);
    }
    browser = browsers.unmasked;
    await browser.open('samples');
  });

  test('shows no literal before a statement is chosen', async () => {
    const [counts, samples] = await browser.charts();
    assert.equal(counts.data.find((row) => row.query_id === SAMPLED).samples, LITERALS.length);
    assert.equal(samples.empty, true);
    await browser.showFirst();
    assert.match(await browser.page.locator('body').innerText(), /Every access is recorded/);
  });

  test('shows samples with literals after a click', async () => {
    await browser.clickCell('Number of samples by statement', SAMPLED);
    await assertDrawn(browser, 'samples');
    const { data } = await browser.chart('Samples of the statement');
    assert.deepEqual(data.map((row) => row.statement), LITERALS.map(statement));
    await keepPicture(browser, 'samples');
  });

  test('has no errors in the console', () => {
    assert.deepEqual(browser.errors, []);
    assert.deepEqual(browser.outside, []);
  });
});

async function listedOnPage(browser, sees) {
  await browser.list();
  await browser.page.waitForSelector(`a[href*="/superset/dashboard/"]`);
  await browser.page.getByText(Object.values(sees)[0], { exact: true }).first().waitFor();
  return browser.page.$$eval('a[href*="/superset/dashboard/"]', (links) =>
    links.map((link) => new URL(link.href).pathname.split('/').filter(Boolean).at(-1)));
}

/** Of requests of the page. */
async function listedByAnswer(session) {
  const answer = await session.get(`${process.env.SUPERSET_URL}/api/v1/dashboard/?q=(page_size:100)`);
  return (await answer.json()).result.map(({ slug }) => slug);
}

function unescaped(text) {
  return text.replaceAll('&#34;', '"').replaceAll('&quot;', '"').replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function statement(literal) {
  return `SELECT holder FROM cards WHERE number = '${literal}'`;
}

/** Newest first, in the order of the table. */
async function insertSamples() {
  const rows = LITERALS.map((literal, i) => ({
    query_id: BigInt(`0x${SAMPLED}`).toString(), instance: 'samples-db-1', cluster: 'samples', database: 'shop', rule_set: '1',
    event_time: new Date(end - (i + 1) * 60_000).toISOString().slice(0, 19).replace('T', ' '), query_time: 1.5,
    statement: statement(literal), event_id: `00000000-0000-0000-0000-00000000000${i}`,
  }));
  const query = encodeURIComponent('INSERT INTO tailrace.query_samples FORMAT JSONEachRow');
  const answer = await fetch(`${process.env.CLICKHOUSE_URL}/?query=${query}`, {
    method: 'POST',
    headers: { 'X-ClickHouse-User': 'writer', 'X-ClickHouse-Key': process.env.CLICKHOUSE_PASSWORD },
    body: rows.map((row) => JSON.stringify(row)).join('\n'),
  });
  assert.ok(answer.ok, await answer.text());
}
