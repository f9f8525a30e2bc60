// Opens each work page once in the light theme, and one page of each user in the dark theme. It checks accessibility, the width
// of the page, and errors of the browser. test_pages_browser.py runs it.
//
// The HTML is a response that Superset sent to a user of the same role before, because rendering a page again costs as much as
// drawing it. Scripts, styles and the data of scripts come from Superset. The tests with the keyboard load complete pages.
//
// Environment: SUPERSET_URL; PAGES, a JSON object of lists of paths by user; ANSWERS, a JSON file of the answers by path: {status,
// headers, body}; PASSWORDS by user; ALERT, the id of an open alert; CHANNEL;
// SCREENSHOTS, the directory of screenshots (default: no screenshots).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Browser } from './browser.mjs';

const PAGES = JSON.parse(process.env.PAGES);
const ANSWERS = JSON.parse(readFileSync(process.env.ANSWERS, 'utf8'));
const AXE = readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const PICTURES = process.env.SCREENSHOTS;
const WIDTH = 1440;
const NARROW = 1024;
/** Milliseconds. Charts draw themselves again if the width of the window changes. */
const FOLLOW_MS = 300_000;
/** Rows of each form that stay. Three, because WCAG limits the distance between links of adjacent rows. */
const ROWS_OF_A_FORM = 3;
let browser;

before(async () => {
  browser = await Browser.launch(process.env.SUPERSET_URL, { width: WIDTH, height: 900 });
});

after(() => browser.close());

/** Logs in as a user of PAGES, instead of another one. */
async function logIn(user) {
  await browser.context.clearCookies();
  await browser.logInByRequest(user, JSON.parse(process.env.PASSWORDS)[user]);
}

async function open(path, theme = 'light') {
  await browser.page.emulateMedia({ colorScheme: theme });
  const answer = await browser.page.goto(`${browser.url}${path}`, { waitUntil: 'load' });
  assert.equal(answer.status(), 200, path);
  await browser.page.evaluate(() => document.querySelectorAll('main details').forEach((each) => { each.open = true; }));
  if (PICTURES) {
    const name = `${path.replace(/[^a-z0-9]+/gi, '-')}${theme}.png`;
    await browser.page.screenshot({ path: join(PICTURES, name), fullPage: true });
  }
}

/** Opens the address of a page whose response is in ANSWERS. */
async function draw(path, theme = 'light') {
  const address = new URL(path, browser.url).href;
  const isPage = ({ href }) => href === address;
  let isAnswered = false;
  await browser.page.route(isPage, (route) => {
    isAnswered = true;
    return route.fulfill(ANSWERS[path]);
  });
  await open(path, theme);
  await browser.page.unroute(isPage);
  assert.ok(isAnswered, `Superset was asked again for ${path}`);
}

/**
 * The violations of WCAG, each with its elements. The page's security policy does not apply to the library. Three rows of equal
 * markup stay, because each row takes time and a table has 200: call it after the tests that need all rows.
 */
async function violations() {
  await browser.page.evaluate(leaveEachForm, ROWS_OF_A_FORM);
  await browser.page.evaluate(AXE);
  const options = { runOnly: { type: 'tag', values: WCAG }, resultTypes: ['violations'], selectors: false };
  const { violations: found } = await browser.page.evaluate((given) => axe.run(given), options);
  return found.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, any }) => `${html} ${any[0]?.message ?? ''}`).join('; ')}`);
}

/** In the page: removes rows of tables that differ from so many rows before them only in texts and in values of attributes. */
function leaveEachForm(count) {
  const STATED = ['aria-hidden', 'class', 'role', 'scope', 'tabindex', 'type'];
  const formOf = (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) {
      return node.data.trim() && 'text';
    }
    const attributes = [...node.attributes].map(({ name, value }) => (STATED.includes(name) ? `${name}=${value}` : `${name} ${Boolean(value)}`));
    return `<${node.localName} ${attributes.sort()}>${[...node.childNodes].map(formOf).join('')}</>`;
  };
  for (const body of document.querySelectorAll('tbody')) {
    const seen = new Map();
    for (const row of [...body.rows]) {
      const form = formOf(row);
      seen.set(form, (seen.get(form) ?? 0) + 1);
      if (seen.get(form) > count) {
        row.remove();
      }
    }
  }
}

/** The pixels by which the page exceeds a window of this width, after its charts were drawn again. */
async function beyond(width) {
  const { page } = browser;
  await page.setViewportSize({ width, height: 900 });
  await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth, null, { timeout: FOLLOW_MS }).catch(() => {});
  const pixels = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  await page.setViewportSize({ width: WIDTH, height: 900 });
  return Math.max(0, pixels);
}

/** Table cells that are cut off or overlap, and the pixels by which the page exceeds the window, after its charts were drawn again. */
async function overflow() {
  const read = () => browser.page.evaluate((width) => ({
    beyond: Math.max(0, document.documentElement.scrollWidth - width),
    cut: [...document.querySelectorAll('th, td')].filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent.trim()),
  }), WIDTH);
  let found = await read();
  for (const end = Date.now() + FOLLOW_MS; (found.beyond || found.cut.length) && Date.now() < end; found = await read()) {
    await browser.page.evaluate(() => new Promise(requestAnimationFrame));
  }
  return found;
}

for (const [user, paths] of Object.entries(PAGES)) {
  describe(`${user} opens`, () => {
    before(() => logIn(user));

    for (const path of paths) {
      describe(path, () => {
        before(() => draw(path));

        test('fits into 1440 pixels', async () => assert.deepEqual(await overflow(), { beyond: 0, cut: [] }));

        test('fits into 1024 pixels; wide tables scroll', async () => assert.equal(await beyond(NARROW), 0));

        test('has no violation of WCAG 2.2 AA', async () => assert.deepEqual(await violations(), []));
      });
    }

    describe('the dark theme', () => {
      before(() => draw(paths[0], 'dark'));

      test('has no violation of WCAG 2.2 AA', async () => assert.deepEqual(await violations(), []));
    });
  });
}

describe('a search', () => {
  test('is saved, scheduled and removed with the keyboard', async () => {
    const { page } = browser;
    const press = async (button) => {
      await page.getByRole('button', { name: button, exact: true }).focus();
      await page.keyboard.press('Enter');
    };
    await logIn('security');
    await open('/tailrace/search/?q=log%3Aslow&range=24h');
    await page.getByLabel('Save this search as').focus();
    await page.keyboard.type('by keyboard');
    await page.keyboard.press('Enter');
    await page.getByText('Search by keyboard saved.').waitFor();
    await page.getByLabel(process.env.CHANNEL).focus();
    await page.keyboard.press('Space');
    await press('Save schedule');
    await page.getByText('Schedule saved.').waitFor();
    assert.deepEqual(await overflow(), { beyond: 0, cut: [] });
    await press('Pause');
    await page.getByText('Schedule paused.').waitFor();
    await press('Remove this search');
    await page.getByText('Search by keyboard removed.').waitFor();
  });
});

describe('times', () => {
  /** The column of event times in the first table: its header, and the texts and the times in UTC of its cells. */
  const column = () => browser.page.evaluate(() => {
    const header = [...document.querySelectorAll('table.rows th')].find((each) => each.textContent.startsWith('Event '));
    const times = [...header.closest('table').tBodies[0].rows].map((row) => row.cells[header.cellIndex].querySelector('time'));
    return { header: header.textContent, shown: times.map((time) => time.textContent), utc: times.map((time) => time.dateTime) };
  });
  const toUtc = (text) => `${text.replace(' ', 'T')}Z`;
  /** The browser's time zone is that of New York. */
  const toNewYork = (utc) => new Date(utc).toLocaleString('sv-SE', { timeZone: 'America/New_York' });

  test('of tables are in the time zone of the viewer after a click, also on the next page', async () => {
    const { page } = browser;
    await logIn('security');
    await draw(PAGES.security[0]);
    const before = await column();
    assert.ok(before.header.endsWith('(UTC)') && before.utc.length > 0, before.header);
    assert.deepEqual(before.shown.map(toUtc), before.utc);

    await page.getByRole('button', { name: 'UTC', exact: true }).click();
    await draw(PAGES.security[0]);
    const after = await column();
    assert.equal(after.header, before.header.replace('(UTC)', '(local)'));
    assert.deepEqual(after.shown, after.utc.map(toNewYork));
    assert.deepEqual(await overflow(), { beyond: 0, cut: [] });

    await page.getByRole('button', { name: 'Local times' }).click();
    assert.deepEqual(await column(), before);
  });
});

describe('an alert', () => {
  test('is acknowledged with the keyboard, from the list', async () => {
    const { page } = browser;
    await logIn('security');
    await open(PAGES.security[0]);
    await page.locator(`input[value="${process.env.ALERT}"]`).first().focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Acknowledge' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('1 alert acknowledged.').waitFor();
  });
});

test('the browser reported no error and sent no request to other machines', () => {
  assert.deepEqual(browser.errors, []);
  assert.deepEqual(browser.outside, []);
});
