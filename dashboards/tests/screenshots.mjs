// Pictures of every dashboard of the running demo, for the documentation: node screenshots.mjs DIRECTORY [SLUG...]
//
// Environment: SUPERSET_URL; SECRETS, the directory with the passwords of Superset's users.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Browser } from './browser.mjs';
import { HOUR, MINUTE } from './time.mjs';
import { dashboards, visit } from './tour.mjs';

const [directory, ...wanted] = process.argv.slice(2);

/** What a visitor of the demo does first, whose logs are of the hour before it was started. */
const FIRST = {
  alerts: hours(1.5),
  'data-access': hours(1.5),
  errors: hours(1.5),
  'failed-access': hours(1.5),
  innodb: hours(1.5),
  logins: hours(1.5),
  plans: (browser) => choose(browser, 'instance', 'shop-orders-1'), // its index is dropped
  'privileged-activity': hours(1.5),
  'query-detail': async (browser) => {
    await browser.open('plans');
    await choose(browser, 'instance', 'shop-orders-1');
    await browser.followLink('Plan changes', 'open');
    await hours(1.5)(browser);
  },
  'developers-digest': hours(7 * 24), // they are about the week before
  'weekly-compliance': hours(7 * 24),
};

/** Chooses the last hours as the time range. */
function hours(count) {
  return async (browser) => {
    const end = Math.ceil(Date.now() / MINUTE) * MINUTE;
    await browser.chooseTimeRange(end - count * HOUR, end);
  };
}

async function choose(browser, filter, value) {
  await browser.choose(filter, value);
  await browser.applyFilters();
}

/** The password of a user; the demo has none for unmasked samples, which an administrator sees, too. */
function password(user) {
  return readFileSync(join(process.env.SECRETS, `superset-${user}`), 'utf8').trim();
}

const shown = dashboards().filter(({ slug }) => wanted.length === 0 || wanted.includes(slug))
  .map(({ slug, roles }) => ({ slug, user: roles[0] === 'unmasked' ? 'admin' : roles[0] }));
for (const user of new Set(shown.map((each) => each.user))) {
  const browser = await Browser.launch(process.env.SUPERSET_URL);
  try {
    await browser.logIn(user, password(user));
    for (const { slug } of shown.filter((each) => each.user === user)) {
      await visit(browser, slug, FIRST[slug]);
      await browser.screenshot(join(directory, `${slug}.png`));
    }
  } finally {
    await browser.close();
  }
}
