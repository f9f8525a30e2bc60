// The workload of the security dashboards: a fixed list of operations, so that every number has a known value.
//
// Two servers of the cluster `vault` within three hours before a given minute: an application logs in again and again, a
// clerk does so without TLS, somebody guesses ann's password, logs in and reads around, somebody else tries names. Two more
// servers have an alert each.
// `attempts` are what happened; the rows are what logs recorded, some of it twice. Rows have the columns of the
// ClickHouse tables (schemas/avro).

import { randomUUID } from 'node:crypto';
import { DAY, MINUTE, SECOND, timestamp } from './time.mjs';

export const CLUSTER = 'vault';
export const INTRUDER = { user: 'ann', src: '203.0.113.9', connection: 4711 };
const [FIRST, SECOND_SERVER] = ['vault-1', 'vault-2'];
/** Actions of the intruder after the login: seconds after it, verb, error code, text without literals, query_id. */
const OPERATIONS = [
  [5, 'SHOW', 0, 'show databases', '9200000000000000001'],
  [9, 'SELECT', 0, 'select table_name from information_schema.tables where table_schema = ?', '9200000000000000002'],
  [20, 'SELECT', 0, 'select * from vault.cards', '9200000000000000003'],
  [31, 'CREATE', 0, 'create user ? identified by ?', '9200000000000000004'],
  [40, 'GRANT', 1142, 'grant select on vault.* to ?', '9200000000000000005'],
  [44, 'SELECT', 1142, 'select * from payroll.salaries', '9200000000000000006'],
];
/** Active rules: title, level, tactic, and by server the logs that are sufficient alone, or the missing fields. */
const RULES = [
  ['Cards read by a stranger', 'high', 'collection', { 'vault-1': ['audit'] }, { missing_classes: ['query'] }],
  ['Login after many refused ones', 'critical', 'initial-access', { 'vault-1': ['audit', 'general'], 'vault-2': [] }, {}],
  ['One host tries many accounts', 'medium', 'credential-access', { 'vault-1': ['errorlog'], 'vault-2': ['errorlog'] }, {}],
  ['Login from a public address', 'low', 'initial-access', { 'vault-1': ['audit'], 'vault-2': ['general'] }, {}],
  ['Very many rows sent', 'high', 'exfiltration', {}, { missing_fields: ['rows_sent'] }],
];
const NAMES = ['root', 'admin', 'mysql', 'test', 'oracle', 'ann'];

/** The whole workload, with times before `end`, in milliseconds since 1970. */
export function security(end) {
  const attempts = [...application(end), ...clerk(end), ...guessing(end), ...spraying(end)];
  const old = attempt(end - 10 * DAY, FIRST, 'till', '10.7.1.11', { connection: 1 });
  const operations = intrusion(attempts.find((tried) => tried.connection === INTRUDER.connection));
  return {
    attempts,
    operations,
    pushes: [[3, 139, true], [2, 155, true], [1, 0, false]].map(([hours, rules, accepted]) => (
      { push_id: `push ${hours}`, at: timestamp(end - hours * 60 * MINUTE), accepted, pushed_by: 'erin', rules, detectors: 15 })),
    alerts: alertsOf(attempts, operations),
    coverage: coverageOf(end),
    fingerprints: OPERATIONS.map(([, verb, , fingerprint, query_id]) => (
      { query_id, rule_set: 'tailrace-1', fingerprint, verb, seen_at: timestamp(end) })),
    auditEvents: [...[...attempts, old].flatMap(auditRecords), ...operations],
    errorEvents: attempts.flatMap(errorMessages),
  };
}

/** An application that logs in every ten minutes from one of two hosts. Its server writes an audit log and a general log. */
function application(end) {
  return Array.from({ length: 16 }, (_, number) => attempt(end - (170 - 10 * number) * MINUTE, FIRST, 'till',
    `10.7.1.${11 + number % 2}`, { connection: 100 + number, logs: ['audit', 'general'], program: 'till-app' }));
}

/** The second server writes a general log and no audit log. */
function clerk(end) {
  return Array.from({ length: 5 }, (_, number) => attempt(end - (150 - 20 * number) * MINUTE, SECOND_SERVER, 'clerk',
    '10.7.2.21', { connection: 200 + number, logs: ['general'], encryption: 'tcp' }));
}

/** Fifteen guesses, which the audit log and the error log record a second apart. Only the error log records the 14th. */
function guessing(end) {
  const begun = end - 60 * MINUTE;
  const { user, src, connection } = INTRUDER;
  return [
    ...Array.from({ length: 15 }, (_, number) => attempt(begun + 6 * number * SECOND, FIRST, user, src, {
      refused: true, connection: 4690 + number, logs: number === 13 ? ['error log'] : ['audit', 'error log'],
    })),
    attempt(begun + 100 * SECOND, FIRST, user, src, { connection, program: 'mysql' }),
  ];
}

/** The records of the following session in the audit log, in order. */
function intrusion(entry) {
  const records = OPERATIONS.map(([seconds, verb, status, , query_id]) => ({
    ...common(entry, entry.time + seconds * SECOND), source: 'audit', event_class: 'query', command: 'QUERY', verb, status,
    connection_id: entry.connection, query_id, rule_set: 'tailrace-1', program_name: entry.program,
  }));
  const left = { event_class: 'connection', command: 'DISCONNECT', connection_id: entry.connection };
  return [...records, { ...common(entry, entry.time + 60 * SECOND), source: 'audit', ...left }];
}

/** Alerts: one for the statement that read cards, one for the refused logins, one for another user, two for other servers. */
function alertsOf(attempts, operations) {
  const guesses = attempts.filter((tried) => tried.refused && tried.user === INTRUDER.user && tried.src === INTRUDER.src);
  const read = operations[2];
  return [
    alert('Cards read by a stranger', 'high', ['attack.collection'], read.event_time, { event_ids: [read.event_id] }),
    alert('Login after many refused ones', 'critical', ['attack.credential-access', 'attack.initial-access'],
      timestamp(guesses.at(-1).time), { user: INTRUDER.user, src_ip: INTRUDER.src, count: 2 }),
    alert('One host tries many accounts', 'medium', ['attack.credential-access'],
      timestamp(attempts.at(-1).time), { instance: SECOND_SERVER, src_ip: attempts.at(-1).src }),
    ...[['Backup read', 'vault-3'], ['Table copied', 'vault-4']].map(([rule, instance]) => alert(
      rule, 'low', ['attack.collection'], read.event_time, { instance, entity_key: `instance=${instance}` })),
  ];
}

/** The rule coverage that the detect job reports by rule and server. A rule cannot fire on a server that its list lacks. */
function coverageOf(end) {
  const answers = RULES.flatMap(([rule_title, level, tactic, on, missing]) => [FIRST, SECOND_SERVER].flatMap((instance) => {
    const its = {
      cluster: CLUSTER, instance, rule_id: rule_title, rule_title, level, tags: [`attack.${tactic}`], in_force: true,
      changed_at: timestamp(end - 90 * MINUTE), told_at: timestamp(end - 90 * MINUTE),
    };
    const whole = on[instance] ? { can_fire: true } : { can_fire: false, reason: 'something is missing', ...missing };
    return [{ ...its, source: '', ...whole }, ...(on[instance] ?? []).map((source) => ({ ...its, source, can_fire: true }))];
  }));
  const earlier = { told_at: timestamp(end - 100 * MINUTE), can_fire: false, missing_fields: ['table'] };
  const ended = { rule_id: 'gone', rule_title: '', in_force: false };
  return [...answers, { ...answers[0], ...earlier }, { ...answers[0], ...ended }];
}

function alert(rule_title, level, tags, event_time, more) {
  return {
    alert_id: randomUUID(), rule_id: rule_title, rule_title, level, tags, cluster: CLUSTER, instance: FIRST, event_time,
    window_from: event_time, seen_at: event_time, updated_at: event_time, entity_key: `instance=${FIRST}`, count: 1,
    link_path: '/superset/dashboard/alerts/?native_filters=()', ...more,
  };
}

function spraying(end) {
  return NAMES.map((name, number) => attempt(end - (40 - number) * MINUTE, SECOND_SERVER, name, '2001:db8:7:1::9',
    { refused: true, connection: 300 + number, logs: ['error log'] }));
}

function attempt(time, instance, user, src, { refused = false, connection, logs = ['audit'], encryption = 'tls', program = '' }) {
  return { time, instance, user, src, refused, connection, logs, encryption, program };
}

function auditRecords(tried) {
  return tried.logs.filter((log) => log !== 'error log').map((log) => ({
    ...common(tried, tried.time),
    source: log,
    event_class: 'connection',
    command: tried.refused ? 'FAILED_CONNECT' : 'CONNECT',
    status: tried.refused ? 1045 : 0,
    connection_id: tried.connection,
    connection_type: tried.refused ? '' : tried.encryption,
    program_name: tried.program,
    flags: log === 'general' ? ['status_unknown'] : [],
  }));
}

function errorMessages(tried) {
  return tried.logs.filter((log) => log === 'error log').map(() => ({
    ...common(tried, tried.time + SECOND),
    source: 'errorlog',
    kind: 'access_denied',
    code: 'MY-010926',
    thread_id: tried.connection,
  }));
}

function common(tried, time) {
  return {
    event_id: randomUUID(), event_time: timestamp(time), cluster: CLUSTER, instance: tried.instance,
    user: tried.user, host: tried.src, ip: tried.src,
  };
}
