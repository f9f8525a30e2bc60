// Pictures of every dashboard of the running demo, for the documentation: node screenshots.mjs DIRECTORY [SLUG...]
// Without slugs also of the work pages.
//
// Environment: SUPERSET_URL; SECRETS, the directory with the passwords of Superset's users, in the demo's home.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Browser } from './browser.mjs';
import { HOUR, MINUTE } from './time.mjs';
import { dashboards, visit } from './tour.mjs';

const [directory, ...wanted] = process.argv.slice(2);

/** The day of the demo's stories, in milliseconds. */
const DAY = 24 * HOUR;
const STORY_END = DAY + Date.parse(
  JSON.parse(readFileSync(join(process.env.SECRETS, '..', 'demo', 'manifest.json'), 'utf8')).story_day);

/** What a visitor of the demo does first; other dashboards show the day of the stories. */
const FIRST = {
  books: () => {}, // they show the times of the collection
  coverage: () => {},
  'rule-coverage': () => {},
  plans: async (browser) => {
    await choose(browser, 'instance', 'shop-db-1'); // its index is dropped
    await storyDay(browser);
  },
  'query-detail': async (browser) => {
    await browser.open('plans');
    await choose(browser, 'instance', 'shop-db-1');
    await storyDay(browser);
    await browser.followLink('Plan changes', 'open');
    await storyDay(browser);
  },
  'developers-digest': hours(7 * 24), // they are about the week before
  'weekly-compliance': hours(7 * 24),
};

/** The work pages, by the name of their picture; `{from}` and `{to}` are the day of the stories. */
const PAGES = {
  'page-alerts': '/tailrace/alerts/?from={from}&to={to}',
  'page-queries': '/tailrace/queries/?from={from}&to={to}',
  'page-client': '/tailrace/entities/client/203.0.113.66/?from={from}&to={to}',
  'page-evidence': '/tailrace/evidence/?from={from}&to={to}',
  'page-setup': '/tailrace/setup/',
};

async function storyDay(browser) {
  await browser.showFirst(); // filters that another tab does not need are hidden there
  await browser.chooseTimeRange(STORY_END - DAY, STORY_END);
}

/** Chooses the last hours as the time range. */
function hours(count) {
  return async (browser) => {
    const end = Math.ceil(Date.now() / MINUTE) * MINUTE;
    await browser.chooseTimeRange(end - count * HOUR, end);
  };
}

/** Takes a picture of the upper part of each work page, and of the statement with the most total time. */
async function takePages(browser) {
  const time = (milliseconds) => new Date(milliseconds).toISOString().slice(0, 19) + 'Z';
  await browser.page.setViewportSize({ width: 1440, height: 1000 });
  for (const [name, path] of Object.entries(PAGES)) {
    const address = path.replace('{from}', time(STORY_END - DAY)).replace('{to}', time(STORY_END));
    await browser.page.goto(`${process.env.SUPERSET_URL}${address}`, { waitUntil: 'load' });
    await browser.page.screenshot({ path: join(directory, `${name}.png`) });
    if (name === 'page-queries') {
      await browser.page.locator('table.rows tbody a').first().click();
      await browser.page.waitForLoadState('load');
      await browser.page.screenshot({ path: join(directory, 'page-query.png') });
    }
  }
}

async function choose(browser, filter, value) {
  await browser.showFirst(); // as above
  await browser.choose(filter, value);
  await browser.applyFilters();
}

/** The password of a user; the demo has none for unmasked samples, which an administrator sees, too. */
function password(user) {
  return readFileSync(join(process.env.SECRETS, `superset-${user}`), 'utf8').trim();
}

const shown = dashboards().filter(({ slug }) => wanted.length === 0 || wanted.includes(slug))
  .map(({ slug, roles, timed }) => ({ slug, timed, user: roles[0] === 'unmasked' ? 'admin' : roles[0] }));
for (const user of new Set(shown.map((each) => each.user))) {
  const browser = await Browser.launch(process.env.SUPERSET_URL);
  try {
    await browser.logIn(user, password(user));
    for (const { slug, timed } of shown.filter((each) => each.user === user)) {
      await visit(browser, slug, FIRST[slug] ?? (timed ? storyDay : undefined))
        .catch((error) => console.error(`${slug}: ${error.message}`)); // it is taken all the same, to be looked at
      await browser.screenshot(join(directory, `${slug}.png`));
    }
    if (user === 'security' && wanted.length === 0) {
      await takePages(browser);
    }
  } finally {
    await browser.close();
  }
}
