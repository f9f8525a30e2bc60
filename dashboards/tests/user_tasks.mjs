// Twelve common tasks on the stories of the demo. Each takes at most three clicks from the page after login to the answer.
//
// Environment: SUPERSET_URL; PASSWORDS, a JSON object of users; MANIFEST, the demo's manifest.json; MOST_SECONDS, the
// limit of a task. Prints a line per task: clicks and milliseconds, from the page after login. Typing does not count as a
// click. Sending a form with Enter counts as one. Pages of the menu are opened for the day of the stories, as by the links
// that the demo prints.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const MOST_CLICKS = 3;
const MOST_SECONDS = Number(process.env.MOST_SECONDS ?? 10);
const { stories, story_day: day, alerts } = JSON.parse(process.env.MANIFEST);
const passwords = JSON.parse(process.env.PASSWORDS);
const STORY = `?from=${day}T00:00:00Z&to=${new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`;

let chrome;
const people = {};

before(async () => {
  chrome = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--no-first-run'],
  });
});

after(() => chrome?.close());

/** A logged-in user with one page for all tasks. */
async function person(user) {
  if (!people[user]) {
    const context = await chrome.newContext({ baseURL: process.env.SUPERSET_URL });
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    await page.goto('/login/');
    await page.fill('#username', user);
    await page.fill('#password', passwords[user]);
    await page.press('#password', 'Enter');
    await page.waitForURL((url) => !url.pathname.startsWith('/login'));
    people[user] = page;
  }
  return people[user];
}

/** Runs one task from the page after login, and counts its clicks. `menu` clicks an entry of the menu. */
function task(title, user, walk) {
  test(title, async () => {
    const page = await person(user);
    await page.goto('/');
    await page.locator('.main-nav').waitFor();
    let clicks = 0;
    const click = async (target) => {
      clicks += 1;
      await (typeof target === 'string' ? page.locator(target) : target).first().click();
      await page.waitForLoadState('load');
    };
    const menu = async (path, range = STORY) => {
      clicks += 1;
      const entry = await page.waitForSelector(`.main-nav a[href$="/tailrace/${path}/"]`);
      await entry.evaluate((link, query) => { link.search = query; }, range);
      await entry.click();
      await page.waitForURL((url) => url.pathname.includes(`/tailrace/${path}/`));
    };
    const began = Date.now();
    await walk({ page, click, menu, enter: (field) => { clicks += 1; return page.press(field, 'Enter'); } });
    const milliseconds = Date.now() - began;
    console.log(`${clicks} clicks, ${milliseconds} ms: ${title}`);
    assert.ok(clicks <= MOST_CLICKS, `${clicks} clicks`);
    assert.ok(milliseconds <= 1000 * MOST_SECONDS, `${milliseconds} ms`);
  });
}

const text = (page) => page.locator('main, body').first().innerText();
const row = (page, caption, words) => page.locator('table', { hasText: caption }).locator('tbody tr', { hasText: words });
const alertOf = (story) => alerts.find((each) => each.story === story);

task('the heaviest query and its callers', 'developer', async ({ page, menu, click }) => {
  await menu('queries');
  await click('table.rows tbody a');
  assert.ok(page.url().includes(stories.dropped_index.query_id));
  assert.match(await row(page, 'Callers by total time', 'app_orders').first().innerText(), /\/customers\/\{id\}\/orders/);
});

task('what became slower since yesterday, and why', 'developer', async ({ page, menu, click }) => {
  await menu('queries');
  await click('text=Slower than before');
  await click('table.rows tbody a');
  assert.ok(page.url().includes(stories.dropped_index.query_id));
  assert.match(await row(page, 'Plan changes', 'slower').first().innerText(), /slower: \d+(\.\d+)? times as long/);
});

task('the N+1 endpoint', 'developer', async ({ page, menu, click }) => {
  await menu('queries');
  await page.fill('#q', 'products');
  await click('form.search button');
  await click(`a[href*="${stories.loop.query_id}"]`);
  const found = await row(page, 'Requests that ran this statement', stories.loop.endpoint).first().innerText();
  assert.ok(found.includes(`${stories.loop.repeats}`), found);
});

task('a statement by pasted SQL', 'developer', async ({ page, menu, click }) => {
  await menu('queries');
  await page.fill('#q', stories.export.statement);
  await click('form.search button');
  await click(`a[href*="${stories.export.query_id}"]`);
  assert.match(await text(page), /anna/);
});

task('who read card data in 30 days', 'compliance', async ({ page, menu, click }) => {
  await menu('evidence', '');
  await click('text=30d');
  await click('text=Actions that touched cardholder data');
  assert.match(await text(page), /app_orders|billing/);
});

task('minutes without audit', 'compliance', async ({ page, menu }) => {
  await menu('evidence', '');
  assert.match(await text(page), /Minutes missing/);
  assert.equal(await row(page, 'Servers, those with gaps first', 'no audit log').count(), 1);
});

task('accounts unused for 90 days', 'compliance', async ({ page, menu, click }) => {
  await menu('evidence', '');
  await click('text=Accounts and their privileges at the end of the period');
  assert.match(await text(page), /days unused|Days unused/i);
});

task('who changed privileges, and for whom', 'compliance', async ({ page, menu, click }) => {
  await menu('evidence');
  await click('text=Changes of accounts and privileges');
  const said = await text(page);
  assert.ok(said.includes(stories.new_account.user) && said.includes('carla'), said.slice(0, 2000));
});

task('export and verify evidence', 'compliance', async ({ page, menu, click }) => {
  await menu('evidence');
  await click('button:has-text("Export")');
  await click('button:has-text("Verify this bundle")');
  assert.doesNotMatch(await text(page), /✗/);
  assert.match(await text(page), /Unchanged since its export by this installation/);
});

task('take, assign and close an alert', 'security', async ({ page, click }) => {
  const shown = page.locator('tr', { hasText: alertOf('export').rule }).first();
  await shown.locator('a', { hasText: /^alert$/ }).first().waitFor();
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await click(shown.locator('a', { hasText: /^alert$/ }));
  await page.waitForURL(/\/tailrace\/alerts\//);
  const filtered = asked.filter((url) => url.includes('/chart/data') && url.includes('slice_id'));
  assert.ok(filtered.length < 2, `the link filtered the other charts: ${filtered}`);
  await click('button:has-text("Take")');
  assert.match(await text(page), /acknowledged and assigned to security/);
  await page.fill('[name=reason] >> nth=0', 'planned export');
  await page.selectOption('[name=verdict]', { label: 'benign' });
  await click('button:has-text("Close")');
  assert.match(await text(page), /closed/);
  assert.match(await row(page, 'Oldest first', 'benign').first().innerText(), /security/);
});

task('everything one address did yesterday', 'security', async ({ page, menu, click, enter }) => {
  await menu('entities');
  await page.fill('[name=q]', stories.spray.address);
  await enter('[name=q]');
  await click(`a[href*="/tailrace/entities/client/${stories.spray.address}/"]`);
  const said = await text(page);
  assert.match(said, new RegExp(`Refused logins\\s+${stories.spray.refused_logins}`));
  assert.match(said, new RegExp(`Statements\\s+${stories.spray.statements}`));
});

task('why a rule cannot fire on an instance', 'security', async ({ page, menu, click }) => {
  await menu('setup', '');
  await click(`a:has-text("${stories.replica.instance}")`);
  assert.match(await text(page), /\d of \d+ rules can raise alerts here/);
  assert.match(await text(page), /audit log/i);
});
