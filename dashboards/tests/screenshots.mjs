// Takes screenshots of the running demo for the documentation: node screenshots.mjs DIRECTORY [NAME...]
//
// NAME is the slug of a dashboard or the name of a work page in PAGES or OTHER_PAGES. The pages in PAGES and the dashboards in
// ALSO_DARK have a second picture in the dark theme, NAME-dark. For a dashboard this is a name, too. Without names it takes all.
// ../screenshots.py runs it and reduces the pictures.
//
// With EVERY_SIZE=1 it takes NAME-WIDTHxHEIGHT-THEME for people who look at them: what a window of each of SIZES shows of every
// dashboard and every page, in both themes. It prints the milliseconds until each was drawn.
//
// It prints each picture that it takes, and each error; then it exits with 1. No action takes longer than BROWSER_TIMEOUT_MS.
//
// Environment: SUPERSET_URL; SECRETS, the directory with the passwords of Superset's users, in the demo's home; EVERY_SIZE;
// BROWSER_TIMEOUT_MS.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { address, Browser } from './browser.mjs';
import { HOUR, MINUTE } from './time.mjs';
import { dashboards, visit } from './dashboard_visits.mjs';

const [directory, ...wanted] = process.argv.slice(2);

/** The day of the demo's stories, in milliseconds. */
const DAY = 24 * HOUR;
const STORY_END = DAY + Date.parse(
  JSON.parse(readFileSync(join(process.env.SECRETS, '..', 'demo', 'manifest.json'), 'utf8')).story_day);

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

/** Dashboards with their own time range in EVERY_SIZE and in the dark theme. */
const NOW = ['books', 'coverage', 'rule-coverage', 'developers-digest', 'weekly-compliance'];

/** The work pages, by the name of their picture; `{from}` and `{to}` are the day of the stories. */
const PAGES = {
  'page-alerts': '/tailrace/alerts/?from={from}&to={to}',
  'page-alert': '/tailrace/alerts/?from={from}&to={to}', // the first of them
  'page-search': '/tailrace/search/?q=user:anna&from={from}&to={to}',
  'page-queries': '/tailrace/queries/?from={from}&to={to}',
  'page-query': '/tailrace/queries/?from={from}&to={to}', // the statement with the most total time
  'page-client': '/tailrace/entities/client/203.0.113.66/?from={from}&to={to}',
  'page-evidence': '/tailrace/evidence/?from={from}&to={to}',
  'page-setup': '/tailrace/setup/',
  'page-retention': '/tailrace/retention/',
};
/** Pages with one picture in the documentation, in the light theme. */
const OTHER_PAGES = {
  'other-incidents': '/tailrace/alerts/incidents/?from={from}&to={to}',
  'other-incident': '/tailrace/alerts/incidents/?from={from}&to={to}', // the first of them
  'other-risk': '/tailrace/alerts/risk/',
  'other-rules': '/tailrace/rules/?from={from}&to={to}',
  'other-rule': '/tailrace/rules/?from={from}&to={to}', // the first of them
  'other-timeline': '/tailrace/search/?q=user:anna | timeline 1h&from={from}&to={to}',
  'other-top': '/tailrace/search/?q=| top user&from={from}&to={to}',
  'other-saved': '/tailrace/search/saved/',
  'other-entities': '/tailrace/entities/?from={from}&to={to}',
  'other-user': '/tailrace/entities/user/anna/?from={from}&to={to}',
  'other-table': '/tailrace/entities/table/cards/?from={from}&to={to}',
  'other-class': '/tailrace/entities/class/pci/?from={from}&to={to}',
  'other-session': '/tailrace/entities/client/203.0.113.66/?from={from}&to={to}', // of its last record
  'other-rows': '/tailrace/evidence/pci/refused_access/?from={from}&to={to}',
  'other-server': '/tailrace/setup/?instance=shop-db-2',
  'other-hold': '/tailrace/retention/holds/new/',
};
/** Dashboards with a second picture, in the dark theme. */
const ALSO_DARK = ['developer-overview', 'compliance-overview', 'security-overview', 'coverage'];
/** Users that open a page instead of `security`. */
const READER = { 'page-retention': 'compliance', 'other-hold': 'compliance' };
/** Pages to which the first link of a table with this address leads. */
const FOLLOWED = {
  'page-alert': '/tailrace/alerts/', 'page-query': '/tailrace/queries/', 'other-incident': '/tailrace/alerts/incidents/',
  'other-rule': '/tailrace/rules/', 'other-session': '/tailrace/sessions/',
};
const SIZES = [{ width: 1440, height: 900 }, { width: 1920, height: 1080 }];
const EVERY_SIZE = Boolean(process.env.EVERY_SIZE);

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

/** Opens a work page of the day of the stories, or the page to which its first link leads. */
async function openPage(browser, name) {
  const time = (milliseconds) => new Date(milliseconds).toISOString().slice(0, 19) + 'Z';
  const path = { ...PAGES, ...OTHER_PAGES }[name].replace('{from}', time(STORY_END - DAY)).replace('{to}', time(STORY_END));
  await browser.page.goto(`${process.env.SUPERSET_URL}${path}`, { waitUntil: 'load' });
  if (FOLLOWED[name]) {
    const link = browser.page.locator(`table.rows tbody a[href*="${FOLLOWED[name]}"]`).first();
    const href = await link.getAttribute('href');
    await browser.page.goto(new URL(href, process.env.SUPERSET_URL).href, { waitUntil: 'load' });
  }
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
    await browser.page.reload({ waitUntil: 'load' }); // charts apply the theme when they are drawn
    await browser.page.screenshot({ path: join(directory, `${name}${suffix}.png`) });
  }
}

/** Takes pictures, and prints their name with the seconds that it took, or the error. */
async function taken(name, take) {
  const began = Date.now();
  await take().then(() => console.log(`${name}: ${Math.round((Date.now() - began) / 1000)} s`), (error) => report(name, error));
}

/** Takes what a window of each size shows of these dashboards and work pages, in both themes. */
async function takeEverySize(browser, its, names) {
  for (const size of SIZES) {
    browser.viewport = size;
    for (const theme of ['light', 'dark']) {
      await browser.page.emulateMedia({ colorScheme: theme });
      const take = async (name, open) => {
        const began = Date.now();
        const file = `${name}-${size.width}x${size.height}-${theme}`;
        try {
          const drawn = await open();
          await browser.page.screenshot({ path: join(directory, `${file}.png`) });
          console.log(`${file}: ${Math.round(drawn ?? Date.now() - began)} ms`);
        } catch (error) {
          report(file, error);
        }
      };
      for (const { slug, timed } of its) {
        await take(slug, () => browser.glance(pathOf(slug, timed)));
      }
      await browser.page.setViewportSize(size);
      for (const name of names) {
        await take(name, () => openPage(browser, name));
      }
    }
  }
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

/** The path of a dashboard with the day of the stories as its time range. */
function pathOf(slug, timed) {
  return `/superset/dashboard/${slug}/${address(timed && !NOW.includes(slug) ? { range: [STORY_END - DAY, STORY_END] } : {})}`;
}

async function choose(browser, filter, value) {
  await browser.showFirst(); // as above
  await browser.choose(filter, value);
  await browser.applyFilters();
}

/** The password of a user. The demo has no user for unmasked samples, so the administrator opens them. */
function password(user) {
  return readFileSync(join(process.env.SECRETS, `superset-${user}`), 'utf8').trim();
}

const isWanted = (name) => wanted.length === 0 || wanted.includes(name);
const shown = dashboards().filter(({ slug }) => isWanted(slug) || isWanted(`${slug}-dark`))
  .map(({ slug, roles, timed }) => ({ slug, timed, user: roles[0] === 'unmasked' ? 'admin' : roles[0] }));
const pages = Object.keys({ ...PAGES, ...OTHER_PAGES }).filter(isWanted);
const readerOf = (name) => READER[name] ?? 'security';
for (const user of new Set([...shown.map((each) => each.user), ...pages.map(readerOf)])) {
  const browser = await Browser.launch(process.env.SUPERSET_URL);
  try {
    await browser.logIn(user, password(user));
    if (EVERY_SIZE) {
      await takeEverySize(browser, shown.filter((each) => each.user === user), pages.filter((name) => readerOf(name) === user));
      continue;
    }
    for (const dashboard of shown.filter((each) => each.user === user)) {
      if (isWanted(dashboard.slug)) {
        await taken(dashboard.slug, () => takeDashboard(browser, dashboard));
      }
      if (ALSO_DARK.includes(dashboard.slug)) {
        await taken(`${dashboard.slug}-dark`, () => takeDark(browser, dashboard));
      }
    }
    await takePages(browser, pages.filter((name) => readerOf(name) === user));
  } finally {
    await browser.close();
  }
}
