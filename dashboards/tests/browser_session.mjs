// The browser of one test process with the login of a role, and the directory of its screenshots.
//
// Environment: SUPERSET_URL; ROLES, a JSON object of users: {password, sees: {slug: title}, not: {slug: title}};
// PANELS, a JSON object of titles: {slug: {chart: [title]}}; DRAWN, of the tabs to draw: {slug: [title]} (default: all);
// SCREENSHOTS, the directory of screenshots (default: no screenshots).

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertDrawn } from './assertions.mjs';
import { Browser } from './browser.mjs';

export const roles = JSON.parse(process.env.ROLES);
const screenshots = process.env.SCREENSHOTS;
/** The browser. After a call of visitAs it is open from the first test to the last. */
export let browser;

let visitor;

/** Logs in as a user of this role for the tests of this process. Each test file can call it. */
export function visitAs(user) {
  if (user === visitor) {
    return;
  }
  visitor = user;
  before(async () => {
    browser = await Browser.launch(process.env.SUPERSET_URL);
    await browser.logInByRequest(user, roles[user].password);
  });

  after(() => browser?.close());
}

/** Adds a test that the open dashboard draws each chart, and takes a screenshot. */
export function testDrawing(slug) {
  test('draws every chart', async () => {
    await assertDrawn(browser, slug);
    await keepPicture(browser, slug);
  });
}

/** Takes a screenshot of the first view of a dashboard if SCREENSHOTS is set. */
export async function keepPicture(seen, ...names) {
  if (screenshots) {
    mkdirSync(join(screenshots, ...names.slice(0, -1)), { recursive: true });
    await seen.screenshot(`${join(screenshots, ...names)}.png`);
  }
}

/** Adds the tests of the browser itself, which run after all other tests of a file. */
export function testBrowser() {
  test('nothing leaves the machine', () => assert.deepEqual(browser.outside, []));

  test('the browser reports no errors', () => assert.deepEqual(browser.errors, []));
}
