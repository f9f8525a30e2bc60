// Opens the first view of each dashboard and checks it against WCAG 2.2 AA, in the light and in the dark theme.
// test_dashboards_axe.py runs it.
//
// Environment: SUPERSET_URL; ROLES, the login of each role by its user; DASHBOARDS, a JSON object of lists of slugs by user.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { Browser } from './browser.mjs';

const AXE = readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** Violations in the markup of Superset 6.1.0 that neither a setting nor a style sheet of a dashboard can fix. */
const KNOWN = [
  { id: 'html-has-lang', selector: 'html', reason: 'the template of the page has no language' },
  { id: 'nested-interactive', selector: '[role="tab"][id^="TABS-"]', reason: 'a title of a tab is a field that editors rename' },
  { id: 'aria-prohibited-attr', selector: '.dashboard-chart', reason: 'the description of a chart is a label of a div without a role' },
  { id: 'label', selector: '.ant-select input[role="combobox"]', reason: 'the search field of a select has no label' },
  { id: 'aria-required-parent', selector: '.pvtTable span[role="columnheader"]', reason: 'a button that sorts a pivot table is a header in a header' },
  { id: 'aria-required-children', selector: '.ant-tabs-nav[role="tablist"]', reason: 'the button of the tabs that do not fit is in their list' },
];
const ROLES = JSON.parse(process.env.ROLES);
let browser;

before(async () => {
  browser = await Browser.launch(process.env.SUPERSET_URL, { width: 1440, height: 900 });
});

after(() => browser.close());

/** The new violations, each with its elements. */
async function violations() {
  await browser.page.evaluate(AXE);
  return browser.page.evaluate(async ([tags, known]) => {
    const isKnown = (id, node) => known.some((each) => each.id === id && document.querySelector(node.target.join(' '))?.closest(each.selector));
    const { violations: found } = await axe.run({ runOnly: { type: 'tag', values: tags } });
    return found.flatMap(({ id, nodes }) => nodes.filter((node) => !isKnown(id, node))
      .map((node) => `${id}: ${node.html.slice(0, 200)} ${node.any[0]?.message ?? ''}`));
  }, [WCAG, KNOWN]);
}

/** Shows the open dashboard in the theme of the system. */
async function turn(theme) {
  await browser.page.emulateMedia({ colorScheme: theme });
  await browser.page.waitForFunction((dark) => {
    const [red] = getComputedStyle(document.body).backgroundColor.match(/\d+/g);
    return Number(red) < 128 === dark;
  }, theme === 'dark', { polling: 100 });
  await browser.settle();
}

for (const [user, slugs] of Object.entries(JSON.parse(process.env.DASHBOARDS))) {
  describe(`${user} sees no violation of WCAG 2.2 AA but those of Superset's markup in`, () => {
    before(async () => {
      await browser.context.clearCookies();
      await browser.logInByRequest(user, ROLES[user].password);
    });

    for (const slug of slugs) {
      test(slug, async () => {
        await browser.page.emulateMedia({ colorScheme: 'light' });
        await browser.follow(`/superset/dashboard/${slug}/`);
        const light = await violations();
        await turn('dark');
        assert.deepEqual({ light, dark: await violations() }, { light: [], dark: [] });
      });
    }
  });
}
