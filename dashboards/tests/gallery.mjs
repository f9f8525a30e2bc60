// Takes what a window of each of SIZES shows of every dashboard and every work page of the running demo, in both themes:
// node gallery.mjs DIRECTORY [NAME...]
//
// A picture is DIRECTORY/THEME-WIDTHxHEIGHT/NAME.png. NAME is the slug of a dashboard or the name of a work page of
// pictured_pages.mjs. With RESUME=1 it takes only pictures that are not there. ../gallery.py runs it and reduces the pictures.
//
// It prints the seconds of each page and each error; then it exits with 1. No action takes longer than BROWSER_TIMEOUT_MS.
//
// Environment: SUPERSET_URL; SECRETS, as in screenshots.mjs; RESUME; KEPT, a directory with reduced pictures, THEME-WIDTHxHEIGHT/NAME.webp,
// which RESUME does not take again; THEMES, by default "light dark"; BROWSER_TIMEOUT_MS.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Browser } from './browser.mjs';
import { openPage, password, pathOf, pictured, reload } from './pictured_pages.mjs';

const [directory, ...wanted] = process.argv.slice(2);
const SIZES = [{ width: 1440, height: 900 }, { width: 1920, height: 1080 }];
const THEMES = process.env.THEMES?.split(' ') ?? ['light', 'dark'];
/** Pictures that are compared until two in a row are equal: texts and charts are drawn over several frames. */
const MOST_PICTURES = 20;

class Gallery {
  constructor(browser) {
    Object.assign(this, { browser, page: browser.page });
  }

  /** Takes a dashboard in one theme. It loads Superset's page, so that no picture depends on the one before. */
  async takeDashboard({ slug, timed }, theme) {
    if (SIZES.every((size) => !isMissing(slug, theme, size))) {
      return;
    }
    await this.page.emulateMedia({ colorScheme: theme });
    await attempt(`${slug}, ${theme}`, async () => {
      await this.browser.glance(slug === 'query-detail' ? await this.#statement() : pathOf(slug, timed));
      for (const size of SIZES) {
        await this.browser.resize(size);
        await this.#take(slug, theme, size);
      }
    });
  }

  /** The path to which the first plan change leads. The link keeps the time range. */
  async #statement() {
    if (!this.statement) {
      await this.browser.follow(pathOf('plans', true));
      this.statement = await this.browser.href('Plan changes', 'open');
    }
    return this.statement;
  }

  /** Takes a work page in both themes. */
  async takePage(name) {
    const missing = THEMES.flatMap((theme) => SIZES.map((size) => ({ theme, size }))).filter(({ theme, size }) => isMissing(name, theme, size));
    if (missing.length === 0) {
      return;
    }
    await attempt(name, async () => {
      await openPage(this.browser, name);
      for (const { theme, size } of missing) {
        await this.page.emulateMedia({ colorScheme: theme });
        await this.page.setViewportSize(size);
        await reload(this.page);
        await this.#take(name, theme, size);
      }
    });
  }

  async #take(name, theme, size) {
    await this.page.mouse.move(0, 0);
    let before = await this.page.screenshot();
    for (let count = 1; count < MOST_PICTURES; count++) {
      const picture = await this.page.screenshot();
      if (picture.equals(before)) {
        break;
      }
      before = picture;
    }
    const file = fileOf(name, theme, size);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, before);
  }
}

function fileOf(name, theme, { width, height }) {
  return join(directory, `${theme}-${width}x${height}`, `${name}.png`);
}

function isMissing(name, theme, size) {
  const file = fileOf(name, theme, size);
  const kept = process.env.KEPT && join(process.env.KEPT, relative(directory, file).replace(/png$/, 'webp'));
  return !process.env.RESUME || !(existsSync(file) || (kept && existsSync(kept)));
}

/** Takes pictures of a page and prints their seconds, or the error. */
async function attempt(name, take) {
  const began = Date.now();
  try {
    await take();
    console.log(`${name}: ${Math.round((Date.now() - began) / 1000)} s`);
  } catch (error) {
    console.error(`${name}: ${error.message}`);
    process.exitCode = 1;
  }
}

const isWanted = (name) => wanted.length === 0 || wanted.includes(name);
for (const [user, all] of pictured()) {
  const dashboards = all.dashboards.filter(({ slug }) => isWanted(slug));
  const pages = all.pages.filter(isWanted);
  if (dashboards.length + pages.length === 0) {
    continue;
  }
  const browser = await Browser.launch(process.env.SUPERSET_URL, SIZES[0]);
  try {
    await browser.logInByRequest(user, password(user));
    const gallery = new Gallery(browser);
    for (const dashboard of dashboards) {
      for (const theme of THEMES) {
        await gallery.takeDashboard(dashboard, theme);
      }
    }
    for (const name of pages) {
      await gallery.takePage(name);
    }
  } finally {
    await browser.close();
  }
}
