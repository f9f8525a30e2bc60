// Opens work pages in a browser and measures their elapsed times: node open_pages.mjs JOB.json RESULT.json
//
// JOB: {pages: [{title, path}], repeat, groups: {name: process group}}. Environment: SUPERSET_URL, SUPERSET_PASSWORD (of admin),
// CLICKHOUSE_URL, CLICKHOUSE_PASSWORD (of admin).
// RESULT: per page, `repeat` times each: `answered`, the milliseconds until the last byte of the page, `complete`, those until the
// page has loaded and drawn a frame, `section`, those until a part that loads after the page (*What is new in this range*) is drawn,
// or null if the page has none, and `cpu`, the CPU-seconds of each process group and of the browser until then. Before each
// opening, ClickHouse drops its cached marks and primary keys. The files of its tables are in the page cache of the operating system.

import { readFileSync, writeFileSync } from 'node:fs';
import { Browser } from '../tests/browser.mjs';
import { awaitSections } from '../tests/late_sections.mjs';
import { cpuSeconds, spent } from './process_time.mjs';

const CACHES = ['MARK CACHE', 'PRIMARY INDEX CACHE', 'UNCOMPRESSED CACHE', 'INDEX MARK CACHE', 'QUERY CONDITION CACHE'];
const { pages, repeat, groups } = JSON.parse(readFileSync(process.argv[2]));
const results = [];

const browser = await Browser.launch(process.env.SUPERSET_URL, { width: 1440, height: 900 });
try {
  await browser.logInByRequest('admin', process.env.SUPERSET_PASSWORD);
  await browser.page.goto(`${process.env.SUPERSET_URL}${pages[0].path}`); // fills the caches of the browser and of Superset
  for (const { title, path } of pages) {
    const openings = [];
    for (let opening = 0; opening < repeat; opening++) {
      await clearCaches();
      openings.push(await opened(path));
    }
    results.push({ title, path, openings });
    writeFileSync(process.argv[3], JSON.stringify(results));
  }
} finally {
  await browser.close();
}

async function opened(path) {
  const before = cpuSeconds(groups);
  const response = await browser.page.goto(`${process.env.SUPERSET_URL}${path}`, { waitUntil: 'load' });
  if (response.status() !== 200) {
    throw new Error(`${path}: HTTP ${response.status()}`);
  }
  const complete = await drawnAt();
  const section = await awaitSections(browser.page) ? await drawnAt() : null;
  const answered = await browser.page.evaluate(() => performance.getEntriesByType('navigation')[0].responseEnd);
  return { answered, complete, section, cpu: spent(groups, before) };
}

/** The milliseconds from the request of the page to the end of the next frame. */
async function drawnAt() {
  return browser.page.evaluate(() => new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
  }));
}

async function clearCaches() {
  for (const name of CACHES) {
    const response = await fetch(process.env.CLICKHOUSE_URL, {
      method: 'POST', body: `SYSTEM DROP ${name}`,
      headers: { 'X-ClickHouse-User': 'admin', 'X-ClickHouse-Key': process.env.CLICKHOUSE_PASSWORD },
    });
    if (!response.ok) {
      throw new Error(`SYSTEM DROP ${name}: ${await response.text()}`);
    }
  }
}
