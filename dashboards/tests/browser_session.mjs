// The browser of a process of tests, in which a user of a role is logged in, and where its pictures go.
//
// Environment: SUPERSET_URL; ROLES, a JSON object of users: {password, sees: {slug: title}, not: {slug: title}};
// PANELS, a JSON object of titles: {slug: {chart: [title]}}; DRAWN, of the tabs to draw: {slug: [title]} (default: all);
// SCREENSHOTS, a directory for pictures of what was seen (default: none is taken).

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertDrawn } from './assertions.mjs';
import { Browser } from './browser.mjs';

export const roles = JSON.parse(process.env.ROLES);
const screenshots = process.env.SCREENSHOTS;
/** Open from before the first test until after the last, once visitAs was called. */
export let browser;

let visitor;

/** Has the tests of this process see the dashboards as a user of this role does; each file of tests may say so. */
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

/** The open dashboard draws each of its charts; a picture of it is kept. */
export function testDrawing(slug) {
  test('draws every chart', async () => {
    await assertDrawn(browser, slug);
    await keepPicture(browser, slug);
  });
}

/** Keeps a picture of what people see first of a dashboard, if somebody has asked for pictures. */
export async function keepPicture(seen, ...names) {
  if (screenshots) {
    mkdirSync(join(screenshots, ...names.slice(0, -1)), { recursive: true });
    await seen.screenshot(`${join(screenshots, ...names)}.png`);
  }
}

/** What holds of the browser after all other tests of a file. */
export function testBrowser() {
  test('nothing leaves the machine', () => assert.deepEqual(browser.outside, []));

  test('the browser reports no errors', () => assert.deepEqual(browser.errors, []));
}
