// The dashboards of compliance officers in a real browser. The tests compare them with the actions of compliance_workload.mjs.
//
// Environment: SUPERSET_URL, ROLES (users and passwords as JSON), WORKLOAD_END as given to seed.mjs; SCREENSHOTS, a directory for
// screenshots (default: no screenshots).

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertClose, assertLinked, assertNoneFailed, ofKnown, one } from './assertions.mjs';
import { auditTrail, dataAccess, PULLED, reviews, serverFacts } from './compliance_workload.mjs';
import { DAY, end, HOUR } from './time.mjs';
import * as expectedValues from './expected_values.mjs';
import { visit } from './dashboard_visits.mjs';
import { browser, keepPicture, testBrowser, testDrawing, visitAs } from './browser_session.mjs';
import { logFiles } from './workload.mjs';

visitAs('compliance');

const WEEKDAYS = ['7 Sun', '1 Mon', '2 Tue', '3 Wed', '4 Thu', '5 Fri', '6 Sat'];
const WAYS = 'Number of accesses by user, client and program';

/** A time range before all events. */
const NOTHING = [end - 60 * DAY, end - 50 * DAY];

describe('Overview for compliance officers', () => {
  before(() => browser.open('compliance-overview'));

  testDrawing('compliance-overview');

  test('shows coverage, access, privilege changes and due reviews, as links', async () => {
    const { actions } = dataAccess(end);
    await assertLinked(browser, 'Accesses to classified data', 'linked_known', actions.filter(isKnown).length, '/superset/dashboard/data-access/?');
    await assertLinked(browser, 'Days not fully reviewed', 'linked_days', 8 - reviews(end).days.length, '/superset/dashboard/coverage/?');
    const grants = auditTrail(end).privileged.filter(({ kind }) => kind === 'accounts and privileges').length;
    await assertLinked(browser.filtered({ cluster: 'ledger' }), 'Changes of privileges', 'linked_changes', grants + 1,
      '/superset/dashboard/accounts/?');
    const minutes = logFiles(end).files.flatMap(({ states }) => states);
    const part = minutes.filter((state) => state === 'covered').length / (2 * minutes.length); // the logs were watched in the second half
    const sixHours = browser.filtered({ range: [end - 6 * HOUR, end] });
    await assertLinked(sixHours, 'Minutes covered', 'linked_covered', `${Number((100 * part).toFixed(2))} %`, '/superset/dashboard/coverage/?');
  });
});

describe('Data access', () => {
  const { actions, records } = dataAccess(end);
  before(() => browser.open('data-access'));

  testDrawing('data-access');

  test('counts actions instead of records, and unknown accesses separately', () => assertCounted(actions));

  test('has a cell for each user and data class', async () => {
    const { data } = await browser.chart('Number of accesses by user and data class');
    const expected = actions.flatMap((action) => classesOf(action).map((name) => `${action.user} ${name}`));
    assert.deepEqual(Object.fromEntries(data.map((row) => [`${row.user} ${row.data_class}`, row.cnt_touched])), countBy(expected));
  });

  test('has a cell for each hour of the week, which is empty without accesses', async () => {
    const { data } = await browser.chart('Number of accesses by weekday and hour (UTC)');
    const expected = countBy(actions.map(({ at }) => `${WEEKDAYS[new Date(at).getUTCDay()]} ${hourOf(at)}`));
    assert.equal(data.length, 7 * 24);
    for (const row of data) {
      assert.equal(row.cnt_actions, expected[`${row.weekday} ${row.hour}`] ?? null, `${row.weekday} ${row.hour}`);
    }
  });

  test('shows reads, writes and accesses of unknown extent over time', async () => {
    const { data } = await browser.chart('Number of accesses by type over time');
    for (const [way, count] of Object.entries(countBy(actions.flatMap(waysOf)))) {
      assert.equal(expectedValues.sum(data, (row) => row[way] ?? 0), count, way);
    }
  });

  test('counts accesses by the source of their table names', async () => {
    const { data } = await browser.chart('Number of accesses by source of table names');
    const basis = { log: 'named by the log', statement: 'read from the statement', unknown: 'unknown' };
    assert.deepEqual(Object.fromEntries(data.map((row) => [row.basis, row.cnt_touched])),
      countBy(records.map((record) => basis[record.basis[0]])));
  });

  test('lists accesses by user, client and program, with the rows that logs recorded', async () => {
    const { data } = await browser.chart(WAYS);
    const expected = expectedValues.groupBy(actions, (action) => [action.user, action.src_ip || action.host, action.instance].join(' '));
    assert.equal(data.length, expected.size);
    for (const row of data) {
      const its = expected.get([row.user, row.origin, row.instance].join(' '));
      assert.equal(row.cnt_known, its.filter(isKnown).length, row.user);
      assert.equal(row.sum_rows ?? 0, expectedValues.sum(its, (action) => action.rowsRecorded ?? 0), row.user);
      assert.equal(row.cnt_out_of_hours, its.filter((action) => isKnown(action) && isOutOfHours(action.at)).length, row.user);
    }
  });

  test('lists actions once, newest first, with links to the session', async () => {
    await browser.show('Data access records');
    const { data, text } = await browser.chart('Data access records');
    const newest = [...actions].sort((a, b) => b.at - a.at).slice(0, 10);
    assert.deepEqual(data.map((row) => row.user), newest.map((action) => action.user));
    assert.match(text, /session/);
    assert.match(data[0].session, new RegExp(`superset/dashboard/session/.*${newest[0].connection}`));
  });

  test('lists accesses of unknown extent by statement', async () => {
    const { data } = await browser.chart('Number of accesses with unknown extent by statement');
    assert.deepEqual(data.map((row) => [row.user, row.statement, row.cnt_accesses]),
      [['etl_nightly', 'call of the ledger', actions.filter((action) => !isKnown(action)).length]]);
  });

  test('applies the filters of class and instance, and a click on a user', async () => {
    const pci = browser.filtered({ data_class: 'pci' });
    const its = actions.filter((action) => classesOf(action).includes('pci'));
    assert.equal((await one(pci, 'Accesses to classified data')).cnt_known, its.length);
    assert.equal((await one(pci, 'Rows sent')).sum_rows, expectedValues.sum(its, (action) => action.rowsRecorded ?? 0));
    await assertCounted(actions.filter((action) => action.instance === 'ledger-db-2'), browser.filtered({ instance: 'ledger-db-2' }));
    await browser.clickCell(WAYS, 'support_li');
    await assertCounted(actions.filter((action) => action.user === 'support_li'));
  });

  test('does not fail in a range without data', () => assertNoneFailed(browser.filtered({ range: NOTHING })));
});

describe('Log coverage', () => {
  const { files } = logFiles(end);
  before(() => browser.open('coverage'));

  testDrawing('coverage');

  test('has the minutes of the ledger, by server and log', async () => {
    const { data } = await browser.chart('Log minutes by server, log and state');
    for (const file of files) {
      const row = data.find(({ instance, source }) => instance === file.instance && source === file.source);
      for (const state of ['behind', 'missing']) {
        assert.equal(row[`min_${state}`], file.states.filter((each) => each === state).length, `${file.instance} ${state}`);
      }
    }
  });

  test('counts all minutes of the range, and minutes before a log was watched as unknown', async () => {
    const sixHours = browser.filtered({ range: [end - 6 * HOUR, end] }); // the logs were watched in the second half
    const minutes = files.flatMap(({ states }) => states);
    const before = files.length * 3 * 60;
    assert.equal(minutes.length, before);
    const of = (state) => minutes.filter((each) => each === state).length;
    assertClose((await one(sixHours, 'Minutes covered')).part_covered, of('covered') / (before + minutes.length));
    assert.equal((await one(sixHours, 'Minutes unknown')).min_unknown, before + of('unknown'));
    assert.equal((await one(sixHours, 'Minutes missing')).min_missing, of('missing'));
    assert.equal((await one(sixHours, 'Minutes behind')).min_behind, of('behind'));
    const ofDays = (await sixHours.chart('Log minutes per day by state')).data; // its first day begins before the range
    const shown = ofDays.flatMap(({ time, ...states }) => Object.values(states)).reduce((sum, each) => sum + (each ?? 0), 0);
    assert.equal(shown, before + minutes.length);
    const { data } = await sixHours.chart('Covered minutes (%) by server, log and day (empty cells: unknown)');
    assert.deepEqual([...new Set(data.map((row) => row.server_log))].sort(),
      [...new Set(files.map((file) => `${file.instance} · ${file.source}`))].sort());
  });

  test('lists the servers without an audit log', async () => {
    const { data } = await browser.chart('Audit status by server');
    const audited = new Set(files.filter(({ source }) => source === 'audit').map(({ instance }) => instance));
    for (const { instance } of files) {
      const row = data.find((each) => each.instance === instance);
      assert.equal(row.state === 'no audit log', !audited.has(instance), instance);
    }
    const events = data.find((row) => row.instance === 'ledger-db-1');
    assert.match(events.state, /^audit log read later, on .* UTC: records of /, 'it has audit events, and no audit log in the ledger');
  });

  test('lists gaps and their repair, newest first', async () => {
    const { data } = await browser.chart('Gaps and backfills');
    assert.deepEqual([...new Set(data.map((row) => `${row.gap_kind}, ${row.state}`))].sort(), ['lost, missing', 'lost, repaired']);
    assert.ok(data.every((row) => (row.state === 'repaired') === (row.repaired_at !== null)), 'what is repaired says when');
  });

  test('sums what reading a pulled log cost, and what it costs in 30 days', async () => {
    const [{ requests, received_bytes: received, line_bytes: lines, monthly_requests: monthly }] =
      (await browser.chart('Number of requests and bytes of pulled logs, and their lag (s), by log')).data;
    const sums = [PULLED.requests, PULLED.received, PULLED.lines].map((each) => each * PULLED.periods);
    assert.deepEqual([requests, received, lines], sums);
    assert.equal(monthly, PULLED.requests * 6 * 24 * 30);
  });

  test('compares the age of the oldest record with the policy', async () => {
    const { data } = await browser.chart('Retention (days) compared with policy');
    const row = data.find((each) => each.instance === 'ledger-db-1' && each.record_type === 'audit and general logs');
    assert.deepEqual([row.policy_days, row.days_back, row.reaches], [400, 120, 'three months, no older record']);
  });

  test('lists reviews, days without a review, and exports', async () => {
    const { days, exported } = reviews(end);
    assert.deepEqual((await browser.chart('Signed reviews')).data.map((row) => row.reviewer), ['olga', 'olga']);
    const without = (await browser.chart('Days not fully reviewed')).data.map((row) => row.day);
    assert.equal((await one(browser, 'Number of days not fully reviewed')).cnt_days, without.length);
    assert.equal(without.length, 8 - days.length, 'a week touches eight days');
    assert.ok(days.every((day) => !without.includes(day)));
    assert.equal((await one(browser, 'Evidence exports')).manifest_sha256, exported[0].manifest_sha256);
    const access = await one(browser, 'Access to unmasked statements');
    assert.deepEqual([access.person, access.outcome, access.rows_returned, access.statements], ['rolf', 'returned', 3, '00000000000000AB']);
  });

  test('does not fail in a range without data', () => assertNoneFailed(browser.filtered({ range: NOTHING })));

  test('draws the tables of a tab again whose time range changed while another tab was open', async () => {
    await browser.show('Audit status by server');
    await browser.show('Gaps and backfills');
    await browser.chooseTimeRange(end - HOUR, end);
    await browser.show('Audit status by server');
    const rows = await browser.page.$$eval('[data-test-chart-name="Audit status by server"] tbody tr',
      (all) => all.filter((row) => window.shown(row)).length);
    assert.ok(rows > 0, 'its rows are visible');
  });
});

describe('Accounts', () => {
  const { accounts } = serverFacts(end);
  const { events, privileged } = auditTrail(end);
  before(() => browser.open('accounts', { cluster: 'ledger' }));

  testDrawing('accounts');

  test('counts accounts by state', async () => {
    const count = (matches) => accounts.filter(matches).length;
    const servers = new Set(accounts.map(({ instance }) => instance)).size;
    const [, of, all] = (await one(browser, 'Accounts')).shown_accounts
      .match(new RegExp(`^${accounts.length}<em>of (\\d+) of (\\d+) servers</em>$`));
    assert.equal(Number(of), servers);
    assert.ok(Number(all) > servers, 'the accounts of other servers are unknown');
    const shown = (number, known) => ofKnown(number, known, accounts.length, 'accounts');
    const known = count(({ state }) => state !== 'not known');
    assert.ok(known < accounts.length, 'of some it is not known');
    assert.equal((await one(browser, 'Never used')).shown_never_used, shown(count(({ state }) => state === 'never used'), known));
    assert.equal((await one(browser, 'Dormant for 90 days')).shown_dormant, shown(count(({ state }) => state === 'not for 90 days'), known));
    assert.equal((await one(browser, 'Administrators')).shown_administrators, shown(count(({ grants }) => grants), accounts.length));
    assert.equal((await one(browser, 'Weak password settings')).shown_weak,
      shown(count(({ password, changedDays, locked }) => locked !== 'yes' && (password === 'none' || changedDays > 90)), accounts.length));
  });

  test('lists each account with its use, its privileges and a link to its accesses', async () => {
    const { data, text } = await browser.chart('All accounts');
    const expected = accounts.map(({ instance, user, host, state }) => [instance, `'${user}'@'${host}'`, state]).sort();
    assert.deepEqual(data.map((row) => [row.instance, row.account, row.state]).sort(), expected);
    assert.match(data.find((row) => row.account.includes('anna')).privileges, /CREATE USER on \*\.\*/);
    assert.match(text, /data/);
  });

  test('lists accounts that several clients use at once', async () => {
    const perHour = expectedValues.groupBy(events.filter(({ user }) => user === 'app_orders'), (event) => event.event_time.slice(0, 13));
    const atOnce = Math.max(...[...perHour.values()].map((its) => new Set(its.map(({ ip }) => ip)).size));
    const { data } = await browser.chart('Account usage in audit and general logs');
    const row = data.find(({ user }) => user === 'app_orders');
    assert.deepEqual([row.at_once, row.client_count, row.shared], [atOnce, 2, atOnce > 1 ? 'yes' : 'no']);
    assert.equal((await one(browser, 'Shared accounts')).cnt_shared, data.filter(({ shared }) => shared === 'yes').length);
    assert.equal(data.find(({ user }) => user === 'dba_mara').used_with, 'mysql');
  });

  test('counts privilege changes from audit logs and from snapshots', async () => {
    const grants = privileged.filter(({ kind }) => kind === 'accounts and privileges').length;
    const { data } = await browser.chart('Number of account and privilege changes by source over time');
    assert.equal(expectedValues.sum(data, (row) => row['audit log'] ?? 0), grants);
    assert.equal(expectedValues.sum(data, (row) => row['server snapshot'] ?? 0), 1);
    const listed = (await browser.chart('Privilege changes')).data;
    assert.equal(listed.length, grants + 1);
    assert.ok(listed.some((row) => row.change.includes("'anna'@'%'") && row.user === ''));
  });

  test('lists the snapshots that a server denied', async () => {
    const { data } = await browser.chart('Account snapshots by server');
    assert.deepEqual([data[0].instance, data[0].fact_kind, data[0].denied], ['ledger-db-2', 'roles', 1]);
  });

  test('links an account to its accesses', async () => {
    await browser.show('All accounts');
    const row = browser.page.locator('[data-test-chart-name="All accounts"] tbody tr', { hasText: "'dba_mara'" }).first();
    const touched = await browser.linked(await row.locator('a').getAttribute('href'));
    const its = dataAccess(end).actions.filter(({ user }) => user === 'dba_mara');
    assert.equal((await one(touched, 'Accesses to classified data')).cnt_known, its.length);
  });
});

describe('Privileged activity', () => {
  const { events, privileged } = auditTrail(end);
  const ofAdministrator = events.filter(({ user }) => user === 'dba_mara');
  before(() => browser.open('privileged-activity', { cluster: 'ledger' }));

  testDrawing('privileged-activity');

  test('counts the records of administrators by kind', async () => {
    const of = (kind) => privileged.filter((done) => done.kind === kind).length;
    assert.equal((await one(browser, 'Records of administrators')).cnt_administration, ofAdministrator.length);
    assert.equal((await one(browser, 'Active administrators')).cnt_administrators, 1);
    assert.equal((await one(browser, 'Records out of hours')).cnt_late_administration,
      ofAdministrator.filter((event) => isOutOfHours(expectedValues.timeOf(event))).length);
    assert.equal((await one(browser, 'Schema changes')).cnt_definitions, of('schema changes'));
    assert.equal((await one(browser, 'Accounts and privileges')).cnt_rights, of('accounts and privileges') + 1, 'one that only a snapshot contains');
    assert.equal((await one(browser, 'Audit changes')).cnt_auditing, of('audit log') + 1, 'one that only a snapshot contains');
  });

  test('has a cell for each user and kind', async () => {
    const { data } = await browser.chart('Number of privileged records by user and kind');
    const cell = (user, kind) => data.find((row) => row.user === user && row.kind === kind)?.cnt_done;
    assert.equal(cell('dba_mara', 'administrators'), ofAdministrator.length);
    assert.equal(cell('(server snapshot)', 'audit log'), 1);
  });

  test('lists changes of the audit configuration and schema changes', async () => {
    const auditing = (await browser.chart('Audit configuration changes and restarts')).data;
    assert.deepEqual(auditing.map((row) => [row.user, row.operation.includes('server_audit')]), [['dba_mara', true], ['(server snapshot)', true]]);
    const { data } = await browser.chart('Schema changes (DDL)');
    assert.ok(data.some((row) => row.operation === 'drop table ledger . scratch' && row.session.includes('4711')));
  });

  test('applies the filter of the kind', async () => {
    const { data } = await browser.filtered({ kind: 'schema changes' }).chart('Number of privileged records by user and kind');
    assert.deepEqual(data.map((row) => [row.user, row.kind]), [['dba_mara', 'schema changes']]);
  });
});

describe('Weekly compliance', () => {
  test('draws every chart', async () => {
    await visit(browser, 'weekly-compliance');
    await keepPicture(browser, 'weekly-compliance');
  });
});

testBrowser();

async function assertCounted(actions, charts = browser) {
  const known = actions.filter(isKnown);
  assert.equal((await one(charts, 'Accesses to classified data')).cnt_known, known.length);
  assert.equal((await one(charts, 'Accounts with access')).cnt_users, new Set(known.map((action) => `${action.instance} ${action.user}`)).size);
  assert.equal((await one(charts, 'Writes to classified data')).cnt_changed, actions.filter((action) => action.written.length > 0).length);
  assert.equal((await one(charts, 'Out of hours')).cnt_out_of_hours, known.filter((action) => isOutOfHours(action.at)).length);
  assert.equal((await one(charts, 'Rows sent')).sum_rows ?? 0, expectedValues.sum(actions, (action) => action.rowsRecorded ?? 0));
  assert.equal((await one(charts, 'Unknown accesses')).cnt_unknown, actions.length - known.length);
}

function isKnown(action) {
  return action.read.length + action.written.length > 0;
}

function isOutOfHours(at) {
  const [day, hour] = [new Date(at).getUTCDay(), new Date(at).getUTCHours()];
  return day === 0 || day === 6 || hour < 7 || hour >= 19;
}

function classesOf(action) {
  return isKnown(action) ? [...new Set([...action.read, ...action.written])] : ['(unknown)'];
}

function waysOf(action) {
  const ways = [action.read.length > 0 && 'read', action.written.length > 0 && 'changed'].filter(Boolean);
  return ways.length > 0 ? ways : ['may have touched'];
}

function hourOf(at) {
  return String(new Date(at).getUTCHours()).padStart(2, '0');
}

function countBy(values) {
  return Object.fromEntries([...expectedValues.groupBy(values, (value) => value)].map(([value, its]) => [value, its.length]));
}
