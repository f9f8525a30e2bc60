// The browser of a file of tests, in which the administrator is logged in, and where its pictures go.
//
// Environment: SUPERSET_URL, SUPERSET_PASSWORD (of admin); SCREENSHOTS, a directory for pictures of what was seen
// (default: a temporary one).

import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { Browser } from './browser.mjs';

export const screenshots = process.env.SCREENSHOTS ?? mkdtempSync(join(tmpdir(), 'tailrace-screenshots-'));
/** Open from before the first test until after the last. */
export let browser;

before(async () => {
  mkdirSync(screenshots, { recursive: true });
  browser = await Browser.launch(process.env.SUPERSET_URL);
  await browser.logIn('admin', process.env.SUPERSET_PASSWORD);
});

after(() => browser?.close());
