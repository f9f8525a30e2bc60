// Pictures of a running installation's dashboards, for the documentation: node screenshots.mjs DIRECTORY
//
// Environment: SUPERSET_URL, SUPERSET_PASSWORD (of admin).

import { join } from 'node:path';
import { Browser } from './browser.mjs';

const browser = await Browser.launch(process.env.SUPERSET_URL);
try {
  await browser.logIn('admin', process.env.SUPERSET_PASSWORD);
  for (const dashboard of ['slow-queries', 'books', 'alerts', 'traces', 'plans']) {
    await browser.open(dashboard);
    await browser.screenshot(join(process.argv[2], `${dashboard}.png`));
  }
} finally {
  await browser.close();
}
