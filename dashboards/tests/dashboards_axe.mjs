// Opens the first view of dashboards and holds it against WCAG 2.2 AA. test_dashboards_axe.py runs it.
//
// Environment: SUPERSET_URL; PASSWORD of the user security; DASHBOARDS, a JSON array of slugs.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Browser } from './browser.mjs';

const AXE = readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** Violations in the markup of Superset 6.1.0, which no setting and no style sheet of a dashboard changes. */
const KNOWN = [
  { id: 'html-has-lang', selector: 'html', reason: 'the template of the page has no language' },
  { id: 'nested-interactive', selector: '[role="tab"][id^="TABS-"]', reason: 'a title of a tab is a field that editors rename' },
  { id: 'aria-prohibited-attr', selector: '.dashboard-chart', reason: 'the description of a chart is a label of a div without a role' },
  { id: 'label', selector: '.ant-select input[role="combobox"]', reason: 'the search field of a select has no label' },
];
let browser;

before(async () => {
  browser = await Browser.launch(process.env.SUPERSET_URL, { width: 1440, height: 900 });
  await browser.logInByRequest('security', process.env.PASSWORD);
});

after(() => browser.close());

/** The violations that are not known, each with the elements that have it. */
async function violations() {
  await browser.page.evaluate(AXE);
  return browser.page.evaluate(async ([tags, known]) => {
    const isKnown = (id, node) => known.some((each) => each.id === id && document.querySelector(node.target.join(' '))?.closest(each.selector));
    const { violations: found } = await axe.run({ runOnly: { type: 'tag', values: tags } });
    return found.flatMap(({ id, nodes }) => nodes.filter((node) => !isKnown(id, node))
      .map((node) => `${id}: ${node.html.slice(0, 200)} ${node.any[0]?.message ?? ''}`));
  }, [WCAG, KNOWN]);
}

for (const slug of JSON.parse(process.env.DASHBOARDS)) {
  test(`${slug} has no violation of WCAG 2.2 AA but those of Superset's markup`, async () => {
    await browser.follow(`/superset/dashboard/${slug}/`);
    assert.deepEqual(await violations(), []);
  });
}
