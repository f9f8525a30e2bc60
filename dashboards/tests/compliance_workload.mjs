// Six days of accesses to classified data, accounts and reviews, generated from one seed. Its servers are in no other workload,
// so that no other test shows these rows.
//
// It first decides the contents of each record, then writes the rows of the tables.

import { DAY, HOUR, MINUTE, timestamp } from './time.mjs';
import { generator, uuid } from './workload.mjs';

const SEED = 20261122;
const HOURS = 6 * 24;
const CLUSTER = 'ledger';

/** Users by server, client and accessed tables. `weight` is the share of their actions, in percent. */
const WAYS = [
  { weight: 45, instance: 'ledger-db-1', user: 'app_orders', src_ip: '10.20.0.11', program: 'orders-api', read: ['pii'], written: [], verb: 'SELECT', rows: 3 },
  { weight: 20, instance: 'ledger-db-1', user: 'app_orders', src_ip: '10.20.0.12', program: 'orders-api', read: [], written: ['pii'], verb: 'UPDATE', rows: null },
  { weight: 15, instance: 'ledger-db-2', user: 'etl_nightly', src_ip: '10.20.0.40', program: '', read: ['pci', 'pii'], written: ['pci'], verb: 'INSERT', rows: 0 },
  { weight: 10, instance: 'ledger-db-2', user: 'dba_mara', src_ip: '', host: 'localhost', program: 'mysql', read: ['pci'], written: [], verb: 'SELECT', rows: 5_000 },
  { weight: 6, instance: 'ledger-db-1', user: 'support_li', src_ip: '10.20.1.7', program: 'DBeaver', read: ['secret'], written: [], verb: 'SELECT', rows: 40 },
  { weight: 4, instance: 'ledger-db-2', user: 'etl_nightly', src_ip: '10.20.0.40', program: '', read: [], written: [], verb: 'CALL', rows: null },
];
const STATEMENTS = { SELECT: 71n, UPDATE: 72n, INSERT: 73n, CALL: 74n };

/** Records of access until `end` (milliseconds since 1970), the actions that they record, and a record that another replaced. */
export function dataAccess(end) {
  const random = generator(SEED);
  const actions = Array.from({ length: 400 }, (_, number) => actionOf(random, end, number));
  const records = actions.flatMap((action) => recordsOf(random, action));
  return {
    actions,
    records,
    outdated: [{ ...records[0], data_class: ['secret'], data_class_read: ['secret'], data_class_written: [] }],
    fingerprints: Object.entries(STATEMENTS).map(([verb, id]) => ({
      query_id: id.toString(), rule_set: 'tailrace-1', fingerprint: `${verb.toLowerCase()} of the ledger`, verb, seen_at: timestamp(end),
    })),
  };
}

function actionOf(random, end, number) {
  const way = pick(random, WAYS);
  const at = end - HOUR - Math.floor(random() * (HOURS - 1)) * HOUR - Math.floor(random() * HOUR);
  return { ...way, id: `${way.instance}/${number}`, at, connection: 1000 + (number % 40), outcome: random() < 0.05 ? 'failure' : 'success' };
}

/** An audit log records all of them, and a slow log every second one, with its rows. */
function recordsOf(random, action) {
  const isUnknown = action.read.length + action.written.length === 0;
  const classes = [...new Set([...action.read, ...action.written])].sort();
  const record = {
    action_id: action.id, event_time: timestamp(action.at), cluster: CLUSTER, instance: action.instance, source: 'audit',
    connection_id: action.connection, user: action.user, host: action.host ?? '', src_ip: action.src_ip, program: action.program,
    database: 'ledger', tables: classes.map((name) => `ledger.${name}_rows`), data_class: classes, data_class_read: action.read,
    data_class_written: action.written, basis: isUnknown ? ['unknown'] : ['log'], mode: 'read', verb: action.verb,
    query_id: STATEMENTS[action.verb].toString(), rows_sent: null, outcome: action.outcome,
  };
  const records = [{ ...record, event_id: uuid(random) }];
  if (action.rows !== null && random() < 0.5) {
    action.rowsRecorded = action.rows;
    records.push({ ...record, event_id: uuid(random), source: 'slowlog', basis: ['statement'], rows_sent: action.rows });
  }
  return records;
}

function pick(random, ways) {
  let left = random() * 100;
  return ways.find((way) => (left -= way.weight) < 0) ?? ways.at(-1);
}

const OLD_DAYS = 120;

/** Accounts of both servers. `grants` are global privileges, `days` the days from the last record of the account to the range. */
const ACCOUNTS = [
  { instance: 'ledger-db-1', user: 'app_orders', host: '10.20.%', state: 'used' },
  { instance: 'ledger-db-1', user: 'support_li', host: '10.20.1.%', state: 'used', changedDays: 400 },
  { instance: 'ledger-db-1', user: 'root', host: 'localhost', state: 'never used', grants: 'ALL PRIVILEGES', password: 'none' },
  { instance: 'ledger-db-1', user: 'batch_old', host: '%', state: 'not for 90 days', days: OLD_DAYS },
  { instance: 'ledger-db-1', user: 'anna', host: '%', state: 'never used', locked: 'yes', grants: 'PROCESS, CREATE USER' },
  { instance: 'ledger-db-2', user: 'etl_nightly', host: '10.20.0.40', state: 'used' },
  { instance: 'ledger-db-2', user: 'dba_mara', host: 'localhost', state: 'used', grants: 'ALL PRIVILEGES' },
  { instance: 'ledger-db-2', user: 'intern', host: '%', state: 'not known' },
];

/** What reading one pulled log cost in each of so many periods of ten minutes. */
export const PULLED = { periods: 7, requests: 4, received: 3000, lines: 2800 };

/** Rows of pull_costs. */
export function pullCosts(end) {
  return Array.from({ length: PULLED.periods }, (_, number) => ({
    cluster: CLUSTER, instance: 'ledger-db-2', source: 'audit', log: '/rds/ledger-db-2/audit/server_audit.log',
    since: timestamp(end - (number + 2) * 10 * MINUTE), at: timestamp(end - (number + 1) * 10 * MINUTE),
    requests: PULLED.requests, received_bytes: PULLED.received, line_bytes: PULLED.lines,
  }));
}

/** Snapshots of the servers: accounts, their privileges, and differences. */
export function serverFacts(end) {
  const readAt = end - 30 * MINUTE;
  const kinds = ['server', 'accounts', 'roles', 'grants_global', 'grants_schema', 'audit'];
  return {
    accounts: ACCOUNTS,
    snapshots: ['ledger-db-1', 'ledger-db-2'].flatMap((instance) => kinds.map((kind) => ({
      cluster: CLUSTER, instance, kind, at: timestamp(readAt), part: 1, parts: 1, product: 'mariadb', version: '10.11.19-MariaDB',
      reason: 'hourly', status: kind === 'roles' && instance === 'ledger-db-2' ? 'denied' : 'ok',
      error: kind === 'roles' && instance === 'ledger-db-2' ? 'SELECT command denied' : '', truncated: false, facts: 4,
    }))),
    facts: ACCOUNTS.flatMap((account) => factsOf(account, end, readAt)),
    changes: [
      { cluster: CLUSTER, instance: 'ledger-db-1', kind: 'grants_global', key: "'anna'@'%' global *.*", at: timestamp(end - 2 * DAY),
        change: 'added', before: {}, after: { privileges: 'PROCESS, CREATE USER' } },
      { cluster: CLUSTER, instance: 'ledger-db-2', kind: 'settings', key: 'server_audit_events', at: timestamp(end - 3 * DAY),
        change: 'changed', before: { value: 'CONNECT,QUERY' }, after: { value: 'CONNECT' } },
    ],
  };
}

function factsOf(account, end, readAt) {
  const { instance, user, host, grants } = account;
  const grantee = `'${user}'@'${host}'`;
  const common = { cluster: CLUSTER, instance, since: timestamp(end - 50 * DAY), last_seen: timestamp(readAt) };
  const changed = new Date(end - (account.changedDays ?? 30) * DAY).toISOString().slice(0, 19);
  const facts = [{ ...common, kind: 'accounts', key: grantee, attributes: {
    user, host, plugin: 'mysql_native_password', role: 'no', locked: account.locked ?? 'no', password: account.password ?? 'set',
    password_expired: 'no', password_changed_at: `${changed}Z`, tls: 'none' } }];
  if (grants) {
    facts.push({ ...common, kind: 'grants_global', key: `${grantee} global *.*`, attributes: {
      grantee, privileges: grants, object: '*.*', grant_option: grants.startsWith('ALL') ? 'yes' : 'no' } });
  }
  return facts;
}

const PRIVILEGED = [
  { id: 81n, verb: 'GRANT', text: 'grant select on ledger . * to ?@?', kind: 'accounts and privileges', times: 5 },
  { id: 82n, verb: 'ALTER', text: 'alter table ledger . entries add column note text', kind: 'schema changes', times: 7, written: ['ledger.entries'] },
  { id: 83n, verb: 'DROP', text: 'drop table ledger . scratch', kind: 'schema changes', times: 2, written: ['ledger.scratch'] },
  { id: 84n, verb: 'SET', text: 'set global server_audit_logging = ?', kind: 'audit log', times: 1 },
  { id: 85n, verb: 'SELECT', text: 'select * from ledger . entries', kind: 'other', times: 20 },
];

/** Records of the accounts in audit logs: each action on data, the last use of a dormant account, and actions of an administrator. */
export function auditTrail(end) {
  const random = generator(SEED + 1);
  const { actions } = dataAccess(end);
  const used = actions.map((action) => record(random, action.at, { ...action, ip: action.src_ip, connection_id: action.connection,
    program_name: action.program, query_id: STATEMENTS[action.verb].toString() }));
  const old = ACCOUNTS.filter(({ days }) => days).map(({ instance, user, days }) =>
    record(random, end - days * DAY, { instance, user, ip: '10.20.0.99', verb: 'SELECT' }));
  const privileged = PRIVILEGED.flatMap((done) => Array.from({ length: done.times }, (_, number) => ({
    ...done, at: end - HOUR - number * 7 * HOUR - Number(done.id) * MINUTE })));
  return {
    privileged,
    events: [...used, ...old, ...privileged.map((done) => record(random, done.at, { instance: 'ledger-db-2', user: 'dba_mara',
      host: 'localhost', program_name: 'mysql', query_id: done.id.toString(), verb: done.verb, tables_written: done.written ?? [],
      connection_id: 4711 }))],
    fingerprints: PRIVILEGED.map(({ id, verb, text }) => ({
      query_id: id.toString(), rule_set: 'tailrace-1', fingerprint: text, verb, seen_at: timestamp(end) })),
  };
}

function record(random, at, said) {
  return {
    event_id: uuid(random), cluster: CLUSTER, instance: said.instance, source: 'audit', event_time: timestamp(at), event_class: 'query',
    command: 'QUERY', status: 0, user: said.user, host: said.host ?? '', ip: said.ip ?? '', database: 'ledger', verb: said.verb,
    program_name: said.program_name ?? '', query_id: said.query_id ?? null, rule_set: 'tailrace-1', connection_id: said.connection_id ?? 1,
    tables_written: said.tables_written ?? [],
  };
}

/** Reviews of two of the last days, an export, and an access to an unmasked statement. */
export function reviews(end) {
  const day = (ago) => new Date(end - ago * DAY).toISOString().slice(0, 10);
  const uuidOf = (number) => `00000000-0000-4000-8000-00000000000${number}`;
  return {
    days: [day(2), day(3)],
    signed: [2, 3].map((ago) => ({ review_id: uuidOf(ago), actor: 'olga', scope: 'all servers', covers: 'all servers', period_from: `${day(ago)} 00:00:00`,
      period_to: `${day(ago - 1)} 00:00:00`, finding: 'nothing of note' })),
    accesses: ['asked', 'shown'].map((step) => ({ look_id: uuidOf(7), step, superset_user: 'rolf', dashboard: 1, chart: 2,
      clickhouse_user: 'reader_unmasked', statement: "SELECT statement FROM samples WHERE query_id = '00000000000000AB'",
      rows: step === 'shown' ? 3 : 0 })),
    exported: [{ export_id: uuidOf(9), actor: 'olga', framework: 'pci', period_from: `${day(5)} 00:00:00`, period_to: `${day(2)} 00:00:00`,
      manifest_sha256: 'ab'.repeat(32), key_fingerprint: 'cd'.repeat(32), file: 'evidence.zip', files: 40, rows: 1234, version: '0.1.0' }],
  };
}
