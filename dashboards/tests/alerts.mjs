// The dashboard Alerts in a real browser. The tests compare it with the inserted alerts (alerts.py).
// Environment: as for security.test.mjs; ALERTS (JSON of the alerts).

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertComplete } from './assertions.mjs';
import { MINUTE } from './time.mjs';
import * as expectedValues from './expected_values.mjs';
import { browser, keepPicture, visitAs } from './browser_session.mjs';

visitAs('security');

const LIST = 'Open and acknowledged alerts';
const DONE = 'Closed and suppressed alerts';
const EVENTS = 'Audit events of the entity';
const LEVELS = ['critical', 'high', 'medium', 'low', 'informational'];

const alerts = JSON.parse(process.env.ALERTS);

describe('Alerts', () => {
  before(() => browser.open('alerts', { cluster: 'shop' })); // other tests insert alerts of other clusters

  test('draws every chart except the chart of an entity, which is empty until an entity is chosen', async () => {
    const charts = await browser.charts();
    assertComplete(charts, 'alerts');
    for (const chart of charts) {
      assert.equal(chart.failed, false, `${chart.title}: ${chart.text}`);
      assert.equal(chart.data?.length > 0, chart.title !== EVENTS, `${chart.title} has ${chart.data?.length} rows`);
    }
    await keepPicture(browser, 'alerts');
  });

  test('counts alerts by state', async () => {
    for (const [title, metric, status] of [['Open alerts', 'cnt_open', 'open'], ['Closed', 'cnt_closed', 'closed'],
      ['Acknowledged', 'cnt_acknowledged', 'acknowledged'], ['Suppressed', 'cnt_silenced', 'silenced']]) {
      assert.equal((await browser.chart(title)).data[0][metric], withStatus(status).length, title);
    }
    const urgent = withStatus('open').filter((alert) => ['high', 'critical'].includes(alert.level));
    assert.equal((await browser.chart('Open and urgent')).data[0].cnt_urgent, urgent.length);
  });

  test('lists alerts by level and event time, with entity and count', async () => {
    await assertListed(LIST, withStatus('open', 'acknowledged'));
    await assertListed(DONE, withStatus('closed', 'silenced'));
    const grown = (await browser.chart(LIST)).data.find((row) => row.alert_count === 7);
    assert.equal(grown.entity_key, 'user mallory');
    const session = decodeURIComponent(grown.link);
    assert.match(session, /dashboard\/session\/.*instance,op:IN,val:!\('shop-db-1'\).*src_ip,op:IN,val:!\('10\.1\.20\.17'\)/);
  });

  test('shows alerts by level over time, by rule and by tactic', async () => {
    const shown = alerts.filter((alert) => alert.status !== 'silenced');
    const { data } = await browser.chart('Number of alerts by level over time');
    for (const [level, its] of expectedValues.groupBy(shown, (alert) => alert.level)) {
      assert.equal(expectedValues.sum(data, (row) => row[level] ?? 0), its.length, level);
    }
    const rules = (await browser.chart('Number of alerts by rule')).data;
    assert.equal(expectedValues.sum(rules, (row) => row.cnt_alerts), shown.length);
    const tactics = (await browser.chart('Number of alerts by ATT&CK tactic')).data;
    assert.deepEqual(Object.fromEntries(tactics.map((row) => [row.tactic, row.cnt_alerts])),
      { Exfiltration: shown.length - 1, 'Credential Access': shown.length - 1, Collection: 1 });
  });
});

describe('The link of an alert', () => {
  test('opens the dashboard with the filters of its entity and time', async () => {
    await assertAbout(alerts[0], await browser.linked(alerts[0].link_path));
  });

  test('opens the dashboard if the name contains characters that a URL escapes', async () => {
    await browser.follow(alerts[3].link_path);
    await assertAbout(alerts[3], browser);
  });
});

/** Asserts that the charts show the user of the alert, from half an hour before it to half an hour after it. */
async function assertAbout(alert, charts) {
  const its = alerts.filter((each) => each.user === alert.user && Math.abs(expectedValues.timeOf(each) - expectedValues.timeOf(alert)) <= 30 * MINUTE);
  await assertListed(LIST, its.filter((each) => ['open', 'acknowledged'].includes(each.status)), charts);
  await assertListed(DONE, its.filter((each) => ['closed', 'silenced'].includes(each.status)), charts);
  const events = (await charts.chart(EVENTS)).data;
  assert.deepEqual(events.map((row) => row.user.toLowerCase()), its.map(() => alert.user));
}

async function assertListed(title, expected, charts = browser) {
  const shown = (await charts.chart(title)).data.map((row) => [idOf(row), row.status, row.alert_count]);
  const wanted = [...expected].sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) || b.event_time.localeCompare(a.event_time))
    .map((alert) => [alert.alert_id.replaceAll('-', ''), alert.status, alert.count]);
  assert.deepEqual(shown, wanted, title);
}

/** The id of an alert, from the link to its page. */
function idOf({ link }) {
  return /^<a href="\/tailrace\/alerts\/([0-9a-f]{32})\/">alert<\/a>/.exec(link)[1];
}

function withStatus(...statuses) {
  return alerts.filter((alert) => statuses.includes(alert.status));
}
