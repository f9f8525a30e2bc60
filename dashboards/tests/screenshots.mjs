// Takes screenshots of the running demo for the documentation: node screenshots.mjs DIRECTORY [NAME...]
//
// NAME is the slug of a dashboard or the name of a work page in PAGES or OTHER_PAGES of pictured_pages.mjs. The pages in
// PAGES and the dashboards in ALSO_DARK have a second picture in the dark theme, NAME-dark. For a dashboard this is a name, too.
// Without names it takes all.
// ../screenshots.py runs it and reduces the pictures.
//
// gallery.mjs takes all of them in both themes and two sizes.
//
// It prints each picture that it takes, and each error; then it exits with 1. No action takes longer than BROWSER_TIMEOUT_MS.
//
// Environment: SUPERSET_URL; SECRETS, the directory with the passwords of Superset's users, in the demo's home; BROWSER_TIMEOUT_MS.

import { join } from 'node:path';
import { Browser } from './browser.mjs';
import { HOUR, MINUTE } from './time.mjs';
import { visit } from './dashboard_visits.mjs';
import { DAY, openPage, PAGES, password, pathOf, pictured, reload, STORY_END } from './pictured_pages.mjs';

const [directory, ...wanted] = process.argv.slice(2);

/** Actions before the screenshot of a dashboard. Other dashboards show the day of the stories. */
const FIRST = {
  books: () => {}, // it shows the times of the collection
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
    await browser.followLink('Plan changes', 'open'); // the link keeps the time range
  },
  'developers-digest': hours(7 * 24), // it covers the previous week
  'weekly-compliance': hours(7 * 24),
};

/** Dashboards with a second picture, in the dark theme. */
const ALSO_DARK = ['developer-overview', 'compliance-overview', 'security-overview', 'coverage'];

async function storyDay(browser) {
  await browser.showFirst(); // other tabs hide filters that they do not use
  await browser.chooseTimeRange(STORY_END - DAY, STORY_END);
}

/** Chooses the last hours as the time range. */
function hours(count) {
  return async (browser) => {
    const end = Math.ceil(Date.now() / MINUTE) * MINUTE;
    await browser.chooseTimeRange(end - count * HOUR, end);
  };
}

/** Takes a picture of the upper part of each of these work pages, of those in PAGES in both themes. */
async function takePages(browser, names) {
  await browser.page.setViewportSize({ width: 1440, height: 1000 });
  for (const name of names) {
    await taken(name, () => takePage(browser, name));
  }
}

async function takePage(browser, name) {
  await openPage(browser, name);
  for (const [theme, suffix] of PAGES[name] ? [['dark', '-dark'], ['light', '']] : [['light', '']]) {
    await browser.page.emulateMedia({ colorScheme: theme });
    await reload(browser.page);
    await browser.page.screenshot({ path: join(directory, `${name}${suffix}.png`) });
  }
}

/** Takes pictures, and prints their name with the seconds that it took, or the error. */
async function taken(name, take) {
  const began = Date.now();
  await take().then(() => console.log(`${name}: ${Math.round((Date.now() - began) / 1000)} s`), (error) => report(name, error));
}

/** Takes the picture of a dashboard after the first action of a user, also if that fails, for inspection. */
async function takeDashboard(browser, { slug, timed }) {
  await visit(browser, slug, FIRST[slug] ?? (timed ? storyDay : undefined)).catch((error) => report(slug, error));
  await browser.screenshot(join(directory, `${slug}.png`));
}

/** Prints why a picture is missing or wrong. The other pictures are taken all the same. */
function report(name, error) {
  console.error(`${name}: ${error.message}`);
  process.exitCode = 1;
}

/** Takes what a window shows of a dashboard in the dark theme. */
async function takeDark(browser, { slug, timed }) {
  await browser.page.emulateMedia({ colorScheme: 'dark' });
  await browser.glance(pathOf(slug, timed));
  await browser.page.screenshot({ path: join(directory, `${slug}-dark.png`) });
  await browser.page.emulateMedia({ colorScheme: 'light' });
}

async function choose(browser, filter, value) {
  await browser.showFirst(); // as above
  await browser.choose(filter, value);
  await browser.applyFilters();
}

const isWanted = (name) => wanted.length === 0 || wanted.includes(name);
for (const [user, all] of pictured()) {
  const shown = all.dashboards.filter(({ slug }) => isWanted(slug) || isWanted(`${slug}-dark`));
  const pages = all.pages.filter(isWanted);
  if (shown.length + pages.length === 0) {
    continue;
  }
  const browser = await Browser.launch(process.env.SUPERSET_URL);
  try {
    await browser.logIn(user, password(user));
    for (const dashboard of shown) {
      if (isWanted(dashboard.slug)) {
        await taken(dashboard.slug, () => takeDashboard(browser, dashboard));
      }
      if (ALSO_DARK.includes(dashboard.slug)) {
        await taken(`${dashboard.slug}-dark`, () => takeDark(browser, dashboard));
      }
    }
    await takePages(browser, pages);
  } finally {
    await browser.close();
  }
}
