// The security dashboards in a real browser. The tests compare them with the actions of security_workload.mjs.
//
// Environment: SUPERSET_URL, ROLES (users and passwords as JSON), WORKLOAD_END as given to seed.mjs; ALERTS, for alerts.mjs;
// SCREENSHOTS, the directory of screenshots (default: no screenshots).

import './alerts.mjs';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertDrawn, assertLinked, assertNoneFailed, ofKnown, one } from './assertions.mjs';
import { hrefIn } from './browser.mjs';
import { dataAccess } from './compliance_workload.mjs';
import { CLUSTER, INTRUDER, security } from './security_workload.mjs';
import { DAY, end, MINUTE } from './time.mjs';
import * as expectedValues from './expected_values.mjs';
import { browser, keepPicture, testBrowser, testDrawing, visitAs } from './browser_session.mjs';

visitAs('security');

/** A time range before all events. */
const NOTHING = [end - 900 * DAY, end - 899 * DAY];
const { alerts, attempts, coverage, operations } = security(end);
const refused = attempts.filter((tried) => tried.refused);
const taken = attempts.filter((tried) => !tried.refused);

function openOurs(dashboard) {
  return browser.open(dashboard, { cluster: CLUSTER });
}

describe('Overview for security analysts', () => {
  before(() => openOurs('security-overview'));

  testDrawing('security-overview');

  test('counts open alerts by severity, refused logins and first logins, as links', async () => {
    const open = (levels) => alerts.filter((alert) => levels.includes(alert.level)).length;
    await assertLinked(browser, 'Open critical alerts', 'linked_critical', open(['critical']), '/tailrace/alerts/?state=open&amp;level=critical');
    await assertLinked(browser, 'Open high alerts', 'linked_high', open(['high']), '/tailrace/alerts/?state=open&amp;level=high');
    await assertLinked(browser, 'Other open alerts', 'linked_lower', open(['medium', 'low', 'informational']),
      '/tailrace/alerts/?state=open&amp;level=medium+or+lower&amp;');
    await assertLinked(browser, 'Refused logins', 'linked_refused', refused.length, '/superset/dashboard/logins/?');
    const href = await assertLinked(browser, 'First logins', 'linked_new', 2, '/superset/dashboard/logins/?');
    assert.ok(href.endsWith('#TAB-logins-which-logins-are-new'));
  });
});

describe('Logins', () => {
  before(() => openOurs('logins'));

  testDrawing('logins');

  test('counts an attempt once if several logs contain it', async () => {
    assert.equal((await one(browser, 'Refused logins')).cnt_refused, refused.length);
    assert.equal((await one(browser, 'Logins')).cnt_successful, taken.length);
    assert.equal((await one(browser, 'Accounts refused')).cnt_refused_accounts,
      new Set(refused.map((tried) => `${tried.instance} ${tried.user}`)).size);
    assert.equal((await one(browser, 'Clients refused')).cnt_refused_sources, new Set(refused.map((tried) => tried.src)).size);
    assert.equal((await one(browser, 'Without TLS')).shown_unencrypted, ofKnown(
      taken.filter((tried) => tried.encryption === 'tcp').length, taken.filter((tried) => tried.encryption).length, taken.length, 'logins'));
    assert.match((await browser.chart('Without TLS')).text, /^Without TLS\n\d+\s+of \d/, 'no tags, and nothing twice');
  });

  test('shows both outcomes over time', async () => {
    const { data } = await browser.chart('Number of login attempts by outcome over time');
    assert.equal(expectedValues.sum(data, (row) => row.refused ?? 0), refused.length);
    assert.equal(expectedValues.sum(data, (row) => row['logged in'] ?? 0), taken.length);
  });

  test('reports a login after consecutive refused logins, with a link to the session', async () => {
    const [guess, ...others] = (await browser.chart('Consecutive refused logins')).data;
    const its = refused.filter((tried) => tried.src === INTRUDER.src);
    assert.deepEqual([guess.verdict, guess.user, guess.refused_attempts], ['then logged in', INTRUDER.user, its.length]);
    assert.deepEqual(others, [], 'one try of each of many names is not in a row');
    assert.match(decodeURIComponent(guess.link), new RegExp(`connection_id,op:IN,val:!\\('${INTRUDER.connection}'`));
  });

  test('counts attempts by account and by network', async () => {
    const accounts = (await browser.chart('Number of login attempts by account')).data;
    for (const row of accounts) {
      const its = attempts.filter((tried) => tried.user === row.user && tried.instance === row.instance);
      assert.equal(row.cnt_refused, its.filter((tried) => tried.refused).length, row.user);
      assert.equal(row.cnt_successful, its.filter((tried) => !tried.refused).length, row.user);
    }
    const networks = Object.fromEntries((await browser.chart('Number of login attempts by network')).data.map((row) => [row.network, row]));
    assert.deepEqual(Object.keys(networks).sort(), ['10.7.1.0/24', '10.7.2.0/24', '2001:db8:7:1::/64', '203.0.113.0/24']);
    assert.equal(networks['2001:db8:7:1::/64'].accounts, 6);
  });

  test('lists new pairs of account and client, without those of ten days ago', async () => {
    const { data } = await browser.chart('First logins of an account from a client');
    assert.deepEqual(data.map((row) => [row.user, row.src_ip, row.novelty]).sort(), [
      ['ann', '203.0.113.9', 'new'], ['clerk', '10.7.2.21', 'the log begins'], ['till', '10.7.1.12', 'new']]);
    assert.equal((await one(browser, 'First logins')).cnt_new, 2);
  });

  test('applies clicked values and filters', async () => {
    assert.equal((await one(browser.filtered({ user: 'clerk' }), 'Logins')).cnt_successful, 5);
    await browser.clickCell('Number of login attempts by network', '203.0.113.0/24');
    const its = attempts.filter((tried) => tried.src === INTRUDER.src);
    assert.equal((await one(browser, 'Refused logins')).cnt_refused, its.filter((tried) => tried.refused).length);
  });

  test('does not fail in a range without data', () => assertNoneFailed(browser.filtered({ range: NOTHING })));
});

describe('Session', () => {
  const RECORDS = 'Session events';
  before(() => openOurs('session'));

  test('draws every chart of the most relevant session', async () => {
    await assertDrawn(browser, 'session');
    await keepPicture(browser, 'session');
    const [who] = (await browser.chart('Session details')).data;
    assert.deepEqual([who.user, who.src_ip, who.program, who.connection_id],
      [INTRUDER.user, INTRUDER.src, 'mysql', String(INTRUDER.connection)]);
  });

  test('lists its events in order', async () => {
    const { data } = await browser.chart(RECORDS);
    assert.deepEqual(data.map((row) => row.command), ['CONNECT', ...operations.map((operation) => operation.verb || operation.command)]);
    assert.equal(data[3].statement, 'select * from vault.cards');
    assert.equal(data[5].error, '1142: no right to the table');
  });

  test('counts statements and errors', async () => {
    const statements = operations.filter((operation) => operation.event_class === 'query');
    assert.equal((await one(browser, 'Statements')).cnt_statements, statements.length);
    assert.equal((await one(browser, 'Errors')).cnt_errors, statements.filter((operation) => operation.status).length);
    const { data } = await browser.chart('Number of session records by kind over time');
    assert.equal(expectedValues.sum(data, (row) => row['refused or failed'] ?? 0), 2);
    assert.equal(expectedValues.sum(data, (row) => row.rights ?? 0), 1, 'a new account is about rights');
  });

  test('shows its related alerts, the most severe first', async () => {
    const { data } = await browser.chart('Related alerts');
    assert.deepEqual(data.map((row) => [row.rule_title, row.why]), [
      ['Login after many refused ones', 'same user or client at the time'], ['Cards read by a stranger', 'names what it did']]);
    assert.equal((await one(browser, 'Alerts of the session')).cnt_session_alerts, 2);
  });

  test('lists sessions, those with alerts first', async () => {
    const { data } = await browser.chart('Sessions by relevance');
    assert.deepEqual([data[0].connection_id, data[0].reason, data[0].alert_count], [String(INTRUDER.connection), 'high', 2], 'as on its own page');
    assert.deepEqual(data.slice(1).map((row) => row.reason).filter((reason) => reason === 'high'), []);
  });

  test('links to another session and to a statement', async () => {
    const other = (await browser.chart('Sessions by relevance')).data.find((row) => row.user === 'ann' && row.reason === 'errors only');
    const its = await browser.linked(hrefIn([other], 'session'));
    assert.equal((await its.chart('Session details')).data[0].connection_id, other.connection_id);
    assert.deepEqual((await its.chart(RECORDS)).data.map((row) => row.error.slice(0, 4)), ['1045', '1045']);
    await browser.followLink(RECORDS, 'query');
    assert.equal((await browser.chart('Statement')).data[0].query, 'show databases');
  });

  test('does not fail in a range without data', async () => assertNoneFailed(await browser.reopened('session', { range: NOTHING })));
});

describe('Failed access', () => {
  const denied = operations.filter((operation) => operation.event_class === 'query' && operation.status);
  before(() => openOurs('failed-access'));

  testDrawing('failed-access');

  test('counts refused logins once, and refused statements', async () => {
    assert.equal((await one(browser, 'Refused logins')).cnt_refused_logins, refused.length);
    assert.equal((await one(browser, 'Refused statements')).cnt_refused_statements, denied.length);
    assert.equal((await one(browser, 'Refused')).cnt_refusals, refused.length + denied.length);
    const { data } = await browser.chart('Number of refused attempts by type over time (PCI DSS 10.2.1.4)');
    assert.equal(expectedValues.sum(data, (row) => row.login ?? 0), refused.length);
    assert.equal(expectedValues.sum(data, (row) => row.statement ?? 0), denied.length);
  });

  test('counts them by account, client and error', async () => {
    const [first] = (await browser.chart('Number of refused attempts by account (PCI DSS 10.2.1.4)')).data;
    assert.deepEqual([first.user, first.cnt_refused_logins, first.cnt_refused_statements], ['ann', 15, 2]);
    const sources = (await browser.chart('Number of refused attempts by client (PCI DSS 10.2.1.4)')).data;
    assert.deepEqual(sources.map((row) => [row.src_ip, row.cnt_refused_logins + row.cnt_refused_statements]),
      [[INTRUDER.src, 17], ['2001:db8:7:1::9', 6]]);
    const errors = (await browser.chart('Number of refused attempts by error (PCI DSS 10.2.1.4)')).data;
    assert.deepEqual(errors.map((row) => row.reason.slice(0, 5)), ['1045:', 'MY-01', '1142:']);
  });

  test('applies the filters', async () => {
    assert.equal((await one(browser.filtered({ user: 'oracle' }), 'Refused')).cnt_refusals, 1);
  });

  test('does not fail in a range without data', () => assertNoneFailed(browser.filtered({ range: NOTHING })));
});

describe('Access flow', () => {
  const { actions } = dataAccess(end);
  before(() => browser.open('access-flow', { range: [end - 7 * DAY, end + MINUTE] }));

  testDrawing('access-flow');

  test('shows the actions of each user by data class', async () => {
    const within = actions.filter(({ at }) => at >= end - 7 * DAY);
    assert.equal((await one(browser, 'Actions')).cnt_class_actions, within.length);
    const users = new Set(within.map((action) => action.user));
    assert.equal((await one(browser, 'Users')).cnt_class_users, users.size);
    const { data } = await browser.chart('Number of actions by user and data class');
    assert.deepEqual(new Set(data.map((row) => row.source)), new Set([...users].map((user) => `user ${user || '(none)'}`)));
  });

  test('applies the filters', async () => {
    const user = actions.at(-1).user;
    const { data } = await browser.filtered({ user }).chart('Number of actions by user and table');
    assert.deepEqual(new Set(data.map((row) => row.source)), new Set([`user ${user}`]));
  });

  test('does not fail in a range without data', () => assertNoneFailed(browser.filtered({ range: NOTHING })));
});

describe('Rule coverage', () => {
  before(() => openOurs('rule-coverage'));

  testDrawing('rule-coverage');

  test('shows for each rule the servers on which it can fire, the missing fields and the last alert', async () => {
    const { data } = await browser.chart('Number of covered servers by rule');
    const found = Object.fromEntries(data.map((row) => [row.rule_title, row]));
    const fired = Object.fromEntries(alerts.map((alert) => [alert.rule_title, new Date(`${alert.event_time}Z`).setMilliseconds(0)]));
    assert.deepEqual(data.map((row) => [row.rule_title, row.servers_covered, row.missing_requirements]).sort(), [
      ['Cards read by a stranger', '1 of 2', 'events of the class query'],
      ['Login after many refused ones', '2 of 2', ''],
      ['Login from a public address', '2 of 2', ''],
      ['One host tries many accounts', '2 of 2', ''],
      ['Very many rows sent', '0 of 2', 'rows_sent'],
    ]);
    assert.equal(data[0].rule_title, 'Very many rows sent', 'what can fire nowhere is first');
    for (const [rule, row] of Object.entries(found)) {
      assert.equal(row.sum_rule_alerts, fired[rule] ? 1 : 0, rule);
      assert.equal(row.rule_last_alert ?? undefined, fired[rule], rule);
    }
    assert.equal((await one(browser, 'Rules that cannot fire')).cnt_nowhere, 1);
    assert.equal((await one(browser, 'Rules that never fired')).cnt_never_fired, 1, 'Login from a public address');
  });

  test('counts the rules that cannot fire by server and reason', async () => {
    const { data } = await browser.chart('Number of rules that cannot fire, by server and reason');
    assert.deepEqual(data.map((row) => [row.instance, row.missing, row.cnt_rules_missing]).sort(), [
      ['vault-1', 'rows_sent', 1], ['vault-2', 'events of the class query', 1], ['vault-2', 'rows_sent', 1]]);
  });

  test('lists the logs on which a rule can fire', async () => {
    const rows = (await browser.chart('Rule coverage by server and rule')).data.filter((row) => row.rule_title.startsWith('Login after'));
    assert.deepEqual(rows.map((row) => [row.instance, row.fires, row.fires_on]), [
      ['vault-1', 'yes', 'audit, general'], ['vault-2', 'yes', 'several together']]);
  });

  test('shows the event classes in the logs of each server', async () => {
    const { data } = await browser.chart('Log sources by server');
    assert.deepEqual(data.map((row) => [row.instance, row.log, row.event_class]), [
      ['vault-1', 'audit', 'connection'], ['vault-1', 'audit', 'query'], ['vault-1', 'errorlog', 'message'],
      ['vault-1', 'general', 'connection'], ['vault-2', 'errorlog', 'message'], ['vault-2', 'general', 'connection']]);
    assert.equal((await one(browser, 'Without logins')).cnt_without_logins, 0);
    assert.equal((await one(browser, 'Slow statements only')).cnt_without_statements, 1);
  });

  test('counts alerts by rule, and the active rules that raise alerts', async () => {
    assert.equal((await one(browser, 'Rules that fired')).cnt_rules, alerts.length);
    assert.equal((await one(browser, 'ATT&CK tactics')).cnt_tactics, 3);
    const active = new Set(coverage.filter((row) => row.source === '' && row.in_force).map((row) => row.rule_id));
    assert.equal((await one(browser, 'Active rules')).cnt_active, active.size);
  });

  test('shows the alerts of each of four servers without scrolling', async () => {
    const servers = [...new Set(alerts.map((alert) => alert.instance))].sort();
    assert.ok(servers.length >= 4);
    assert.deepEqual(await browser.rowsInSight('Number of alerts by server and tactic'), servers);
  });

  test('applies the filters of rules and results', async () => {
    const { data } = await browser.filtered({ fires: 'no' }).chart('Rule coverage by server and rule');
    assert.deepEqual(data.map((row) => [row.rule_title, row.instance]), [
      ['Cards read by a stranger', 'vault-2'], ['Very many rows sent', 'vault-1'], ['Very many rows sent', 'vault-2']]);
    const ofOneRule = browser.filtered({ fires: 'no', rule_title: 'Cards read by a stranger' });
    assert.deepEqual((await ofOneRule.chart('Rule coverage by server and rule')).data.map((row) => row.missing), ['events of the class query']);
    await assertNoneFailed(ofOneRule);
  });
});

testBrowser();
