// The dashboards and work pages that pictures show: their addresses in the running demo, their readers and their time range.
// Shared by screenshots.mjs and gallery.mjs.
//
// Environment: SUPERSET_URL; SECRETS, the directory with the passwords of Superset's users, in the demo's home.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { address } from './browser.mjs';
import { dashboards } from './dashboard_visits.mjs';
import { HOUR, MINUTE } from './time.mjs';
import { awaitSections } from './late_sections.mjs';

/** The day of the demo's stories, in milliseconds. */
export const DAY = 24 * HOUR;
export const STORY_END = DAY + Date.parse(
  JSON.parse(readFileSync(join(process.env.SECRETS, '..', 'demo', 'manifest.json'), 'utf8')).story_day);

/** Dashboards that keep their own time range. The others show the day of the stories. */
const NOW = ['books', 'coverage', 'rule-coverage'];
/** Dashboards of the previous calendar week, in which the demo may have no logs. They show the last seven days. */
const WEEKLY = ['developers-digest', 'weekly-compliance'];

/** Filters of a dashboard. The index of this server is dropped. */
const CHOSEN = { plans: { instance: 'shop-db-1' } };

/** The work pages, by the name of their picture; `{from}` and `{to}` are the day of the stories. */
export const PAGES = {
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
/** Users that open a page instead of `security`. */
const READER = { 'page-retention': 'compliance', 'other-hold': 'compliance' };
/** Pages to which the first link of a table with this address leads. */
const FOLLOWED = {
  'page-alert': '/tailrace/alerts/', 'page-query': '/tailrace/queries/', 'other-incident': '/tailrace/alerts/incidents/',
  'other-rule': '/tailrace/rules/', 'other-session': '/tailrace/sessions/',
};
/** Opens a work page of the day of the stories, or the page to which its first link leads. */
export async function openPage(browser, name) {
  const time = (milliseconds) => new Date(milliseconds).toISOString().slice(0, 19) + 'Z';
  const path = { ...PAGES, ...OTHER_PAGES }[name].replace('{from}', time(STORY_END - DAY)).replace('{to}', time(STORY_END));
  await follow(browser.page, `${process.env.SUPERSET_URL}${path}`);
  if (FOLLOWED[name]) {
    const link = browser.page.locator(`table.rows tbody a[href*="${FOLLOWED[name]}"]`).first();
    const href = await link.getAttribute('href');
    await follow(browser.page, new URL(href, process.env.SUPERSET_URL).href);
  }
}

/** Loads a work page with all its parts. The page of an error is an error. */
async function follow(page, to) {
  await allThere(page, await page.goto(to, { waitUntil: 'load' }));
}

/** Loads the open work page again, because charts apply theme and width when they are drawn. */
export async function reload(page) {
  await allThere(page, await page.reload({ waitUntil: 'load' }));
}

async function allThere(page, answer) {
  if (answer.status() !== 200) {
    throw new Error(`${page.url()}: HTTP ${answer.status()}`);
  }
  await awaitSections(page);
}

/** The path of a dashboard with the day of the stories as its time range. */
export function pathOf(slug, timed) {
  return `/superset/dashboard/${slug}/${address({ ...rangeOf(slug, timed), ...CHOSEN[slug] })}`;
}

function rangeOf(slug, timed) {
  if (!timed || NOW.includes(slug)) {
    return {};
  }
  const now = Math.ceil(Date.now() / MINUTE) * MINUTE;
  return { range: WEEKLY.includes(slug) ? [now - 7 * DAY, now] : [STORY_END - DAY, STORY_END] };
}

/** The password of a user. The demo has no user for unmasked samples, so the administrator opens them. */
export function password(user) {
  return readFileSync(join(process.env.SECRETS, `superset-${user}`), 'utf8').trim();
}

/** Every dashboard with the user that opens it, and every work page, by this user: [user, {dashboards, pages}]. */
export function pictured() {
  const found = new Map();
  const of = (user) => found.get(user) ?? found.set(user, { dashboards: [], pages: [] }).get(user);
  for (const { slug, roles, timed } of dashboards()) {
    of(roles[0] === 'unmasked' ? 'admin' : roles[0]).dashboards.push({ slug, timed });
  }
  for (const name of Object.keys({ ...PAGES, ...OTHER_PAGES })) {
    of(READER[name] ?? 'security').pages.push(name);
  }
  return [...found];
}
