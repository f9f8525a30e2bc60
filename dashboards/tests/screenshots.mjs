// Pictures of a running installation's dashboards, for the documentation: node screenshots.mjs DIRECTORY
//
// Environment: SUPERSET_URL, SUPERSET_PASSWORD (of admin).

import { join } from 'node:path';
import { Browser } from './browser.mjs';

const browser = await Browser.launch(process.env.SUPERSET_URL);
try {
  await browser.logIn('admin', process.env.SUPERSET_PASSWORD);
  for (const dashboard of ['slow-queries', 'errors', 'innodb', 'books', 'alerts', 'traces', 'data-access', 'coverage', 'accounts',
    'privileged-activity', 'failed-access', 'logins', 'session', 'access-flow', 'rule-coverage']) {
    await browser.open(dashboard);
    await browser.screenshot(join(process.argv[2], `${dashboard}.png`));
  }
  await browser.open('plans');
  await browser.choose('instance', 'shop-orders-1'); // of the demo: its index is dropped
  await browser.applyFilters();
  await browser.screenshot(join(process.argv[2], 'plans.png'));
  await browser.followLink('Changes and their verdicts', 'open');
  await browser.screenshot(join(process.argv[2], 'query-detail.png'));
} finally {
  await browser.close();
}
