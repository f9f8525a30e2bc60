// Twelve common tasks on the stories of the demo. Each takes at most three clicks from the page after login to the answer.
//
// Environment: SUPERSET_URL; PASSWORDS, a JSON object of users; MANIFEST, the demo's manifest.json. Prints a line per
// task: clicks and milliseconds. Typing and selecting a file do not count as clicks. Sending a form with Enter counts as one.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const MOST_CLICKS = 3;
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
    const context = await chrome.newContext({ baseURL: process.env.SUPERSET_URL, acceptDownloads: true });
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

/** Runs one task from a page of the menu, and counts its clicks. */
function task(title, user, start, walk) {
  test(title, async () => {
    const page = await person(user);
    let clicks = 0;
    const click = async (target) => {
      clicks += 1;
      await (typeof target === 'string' ? page.locator(target) : target).first().click();
      await page.waitForLoadState('load');
    };
    const began = Date.now();
    await page.goto(start);
    await walk({ page, click, enter: (field) => { clicks += 1; return page.press(field, 'Enter'); } });
    console.log(`${clicks} clicks, ${Date.now() - began} ms: ${title}`);
    assert.ok(clicks <= MOST_CLICKS, `${clicks} clicks`);
  });
}

const text = (page) => page.locator('main, body').first().innerText();
const row = (page, caption, words) => page.locator('table', { hasText: caption }).locator('tbody tr', { hasText: words });
const alertOf = (story) => alerts.find((each) => each.story === story);

task('the heaviest query and its callers', 'developer', `/tailrace/queries/${STORY}`, async ({ page, click }) => {
  await click('table.rows tbody a');
  assert.ok(page.url().includes(stories.dropped_index.query_id));
  assert.match(await row(page, 'Callers by total time', 'app_orders').first().innerText(), /\/customers\/\{id\}\/orders/);
});

task('what became slower since yesterday, and why', 'developer', `/tailrace/queries/${STORY}`, async ({ page, click }) => {
  await click('text=Slower than before');
  await click('table.rows tbody a');
  assert.ok(page.url().includes(stories.dropped_index.query_id));
  assert.match(await row(page, 'Plan changes', 'slower').first().innerText(), /slower: \d+(\.\d+)? times as long/);
});

task('the N+1 endpoint', 'developer', `/tailrace/queries/${STORY}`, async ({ page, click, enter }) => {
  await page.fill('#q', 'products');
  await click('form.search button');
  await click(`a[href*="${stories.loop.query_id}"]`);
  const found = await row(page, 'Requests that ran this statement', stories.loop.endpoint).first().innerText();
  assert.ok(found.includes(`${stories.loop.repeats}`), found);
});

task('a statement by pasted SQL', 'developer', `/tailrace/queries/${STORY}`, async ({ page, click }) => {
  await page.fill('#q', stories.export.statement);
  await click('form.search button');
  await click(`a[href*="${stories.export.query_id}"]`);
  assert.match(await text(page), /anna/);
});

task('who read card data in 30 days', 'compliance', '/tailrace/entities/', async ({ page, click, enter }) => {
  await page.fill('[name=q]', 'pci');
  await enter('[name=q]');
  await click('a[href*="/tailrace/entities/class/pci/"]');
  await click('text=30d');
  assert.match(await text(page), /app_orders|billing/);
});

task('minutes without audit', 'compliance', '/tailrace/evidence/', async ({ page }) => {
  assert.match(await text(page), /Minutes missing/);
  assert.equal(await row(page, 'Servers, those with gaps first', 'no audit log').count(), 1);
});

task('accounts unused for 90 days', 'compliance', '/tailrace/evidence/', async ({ page, click }) => {
  await click('text=Accounts and their privileges at the end of the period');
  assert.match(await text(page), /days unused|Days unused/i);
});

task('who changed privileges, and for whom', 'compliance', `/tailrace/evidence/${STORY}`, async ({ page, click }) => {
  await click('text=Changes of accounts and privileges');
  const said = await text(page);
  assert.ok(said.includes(stories.new_account.user) && said.includes('carla'), said.slice(0, 2000));
});

task('export and verify evidence', 'compliance', `/tailrace/evidence/${STORY}`, async ({ page, click }) => {
  await click('button:has-text("Export")');
  const link = page.locator('a', { hasText: 'Download' });
  await link.waitFor();
  const downloading = page.waitForEvent('download');
  await click(link);
  const file = join(mkdtempSync(join(tmpdir(), 'tailrace-evidence-')), 'evidence.zip');
  await (await downloading).saveAs(file);
  await page.goto(`/tailrace/evidence/${STORY}`);
  await page.setInputFiles('[name=bundle]', file);
  await click('button:has-text("Verify")');
  assert.doesNotMatch(await text(page), /✗/);
  assert.match(await text(page), /✓/);
});

task('take, assign and close an alert', 'security', `/tailrace/alerts/${STORY}`, async ({ page, click }) => {
  await page.goto(await page.locator('a', { hasText: alertOf('export').rule }).first().getAttribute('href'));
  await page.fill('[name=reason] >> nth=0', 'looking into it');
  await click('button:has-text("Acknowledge")');
  await page.fill('[name=reason] >> nth=0', 'on call');
  await click('button:has-text("Assign")');
  await page.fill('[name=reason] >> nth=0', 'planned export');
  await page.selectOption('[name=verdict]', { label: 'benign' });
  await click('button:has-text("Close")');
  assert.match(await text(page), /closed/);
  assert.match(await row(page, 'Oldest first', 'benign').first().innerText(), /security/);
});

task('everything one address did yesterday', 'security', `/tailrace/entities/${STORY}`, async ({ page, click, enter }) => {
  await page.fill('[name=q]', stories.spray.address);
  await enter('[name=q]');
  await click(`a[href*="/tailrace/entities/client/${stories.spray.address}/"]`);
  const said = await text(page);
  assert.match(said, new RegExp(`Refused logins\\s+${stories.spray.refused_logins}`));
  assert.match(said, new RegExp(`Statements\\s+${stories.spray.statements}`));
});

task('why a rule cannot fire on an instance', 'security', '/tailrace/setup/', async ({ page, click }) => {
  await click(`a:has-text("${stories.replica.instance}")`);
  assert.match(await text(page), /of 146 rules|rules/);
  assert.match(await text(page), /audit log/i);
});
