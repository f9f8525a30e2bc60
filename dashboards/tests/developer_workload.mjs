// Two hours of two servers, twelve days ago, and the two hours before them, for the comparison of intervals. No other test
// uses these servers and statements, or a time range that contains them.

import { DAY, HOUR, MINUTE, SECOND, timestamp } from './time.mjs';

const COUNT = 40; // entries of a statement in each period

export const STEADY = 'BB00000000000001';
export const SLOWER = 'BB00000000000002';
export const NEW = 'BB00000000000003';
export const SLOWED = 3;
export const ROUTE = '/ledgers/{id}';

export const ABORTED = 4242; // a connection of CONSTANT whose statements exceeded the lock wait timeout

export const [LOCK_SECONDS, PAGES, HISTORY] = [0.02, 7, 12_000]; // of InnoDB, on CONSTANT

/** What one session has waited at successive polls, in seconds. */
export const POLLED_SECONDS = [3, 63];

/** The settings of CONSTANT stay the same. The threshold of RETUNED is lowered in the middle of the range. */
export const CONSTANT = 'ledger-db-1';
export const RETUNED = 'ledger-db-2';

/** The range that is shown (ms since 1970), in which RETUNED is changed. */
export function comparedRange(end) {
  const hour = Math.floor((end - 12 * DAY) / HOUR) * HOUR;
  const from = hour % DAY === 0 ? hour - HOUR : hour;
  return { from, to: from + 2 * HOUR, changed: from + HOUR };
}

/** Rows of query_events, error_events, fingerprints, server_facts, metadata_lock_waits and server_snapshots. */
export function comparedStatements(end) {
  const { from, changed } = comparedRange(end);
  const both = [CONSTANT, RETUNED];
  const runs = (id, at, slower = 1) => both.flatMap((instance) => entries(id, instance, at, slower));
  const events = [
    ...runs(STEADY, from - 3.5 * HOUR), // so that the logs of both servers were read before the range
    ...runs(STEADY, from - 1.5 * HOUR), ...runs(STEADY, from + 0.5 * HOUR),
    ...runs(SLOWER, from - 1.5 * HOUR), ...runs(SLOWER, from + 0.5 * HOUR, SLOWED),
    ...runs(NEW, from + 0.5 * HOUR),
  ].map((event, number) => ({ ...event, event_id: `bb000000-0000-0000-0000-${String(number).padStart(12, '0')}`, entry_offset: number }));
  return {
    events,
    errorEvents: errorMessages(from),
    fingerprints: [STEADY, SLOWER, NEW].map((id) => fingerprint(id, end, id === NEW ? from + HOUR / 2 : from - DAY)),
    serverFacts: [
      ...both.map((instance) => setting(instance, 'slow_query_log', 'ON', from - 10 * DAY, end)),
      setting(CONSTANT, 'long_query_time', '0.1', from - 10 * DAY, end),
      setting(RETUNED, 'long_query_time', '0.5', from - 10 * DAY, changed - 60 * SECOND),
      setting(RETUNED, 'long_query_time', '0.1', changed, end),
    ],
    lockWaits: POLLED_SECONDS.map((seconds) => lockWait(from, seconds)),
    snapshots: [snapshot(CONSTANT, 'metadata_locks', from), snapshot(RETUNED, 'server', from)],
  };
}

/** A poll of CONSTANT that finds a session that has waited for so many seconds for the lock of an idle session. */
function lockWait(from, seconds) {
  return {
    cluster: 'ledger', instance: CONSTANT, at: timestamp(from + 30 * MINUTE + seconds * SECOND),
    object_type: 'TABLE', database: 'ledger', object_name: 'entries',
    waiting_lock: 'EXCLUSIVE', waiting_connection: 70, waiting_user: 'dba_mara', waiting_host: 'localhost',
    waiting_command: 'Query', waiting_seconds: seconds,
    holding_lock: 'SHARED_READ', holding_connection: 71, holding_user: 'ledger', holding_host: 'app-1',
    holding_command: 'Sleep', holding_seconds: seconds + 90,
  };
}

function snapshot(instance, kind, from) {
  return {
    cluster: 'ledger', instance, kind, at: timestamp(from + 30 * MINUTE), part: 1, parts: 1, product: 'mariadb',
    version: '10.11.19-MariaDB', reason: 'hourly', status: 'ok', error: '', truncated: false, facts: 1,
  };
}

/** Messages of CONSTANT's error log: a deadlock, an aborted connection, and a crash after which the server starts again. */
function errorMessages(from) {
  const message = (kind, minutes, columns) => ({
    event_id: `bb000000-0000-0000-0001-${String(minutes).padStart(12, '0')}`, cluster: 'ledger', instance: CONSTANT, source: 'errorlog',
    log: '/var/log/mysql/error.log', generation: 1, entry_offset: minutes, entry_bytes: 100, format: 'mysql-error',
    event_time: timestamp(from + minutes * 60 * SECOND), level: 'Note', kind, message: `a message of the kind ${kind}`, ...columns,
  });
  return [
    message('deadlock', 35, { details: {
      transaction_1_statement: 'update ledgers set total = total + ? where id = ?', transaction_1_query_id: SLOWER,
      transaction_1_thread_id: '7', transaction_1_user: 'ledger', transaction_1_host: '10.2.0.7',
      transaction_2_statement: 'update entries set ledger = ? where id = ?', transaction_2_query_id: STEADY, transaction_2_thread_id: '8', rolled_back: '2',
    } }),
    message('connection_aborted', 40, { thread_id: ABORTED, user: 'ledger', host: 'app-1' }),
    message('crash', 50, { level: 'ERROR', details: { signal: '11', query_id: SLOWER } }),
    message('innodb_pressure', 45, { details: { loop_took_ms: '4500' } }),
    message('innodb_monitor', 46, { details: { history_list_length: String(HISTORY) } }),
    message('server_state', 51, { level: 'System', details: { state: 'start' } }),
    message('server_state', 52, { level: 'System', details: { state: 'ready' } }),
  ];
}

/** One of ten executions of a statement of CONSTANT exceeded the lock wait timeout, all on one connection. */
function errorOf(id, instance, number) {
  return id === SLOWER && instance === CONSTANT && number % 10 === 0 ? { error_code: 1205, connection_id: ABORTED } : {};
}

/** The attributes that Percona Server logs for each execution of a statement of CONSTANT. */
function innodbOf(id, instance) {
  return id === SLOWER && instance === CONSTANT ? { lock_time: LOCK_SECONDS, attributes: {
    InnoDB_IO_r_ops: '2', InnoDB_IO_r_bytes: '32768', InnoDB_IO_r_wait: '0.01', InnoDB_rec_lock_wait: '0.005', InnoDB_queue_wait: '0',
    InnoDB_pages_distinct: String(PAGES),
  } } : {};
}

function entries(id, instance, at, slower) {
  return Array.from({ length: COUNT }, (_, number) => ({
    cluster: 'ledger', instance, source: 'slowlog', log: '/var/log/mysql/slow.log', generation: 1, entry_bytes: 400,
    format: 'mysql-slow', event_time: timestamp(at + number * SECOND), connection_id: 7, user: 'ledger', host: 'app-1', ip: '',
    database: 'ledger', query_id: BigInt(`0x${id}`).toString(), rule_set: 'tailrace-1', verb: 'SELECT',
    query_time: slower * (0.1 + number / 1000), lock_time: 0, rows_sent: 1, rows_examined: 1, weight: 1,
    tags: id === SLOWER ? { application: 'ledger-web', route: ROUTE } : {}, after_checkpoint: 0, ...errorOf(id, instance, number),
    ...innodbOf(id, instance),
  }));
}

function fingerprint(id, seen, firstSeen) {
  return {
    query_id: BigInt(`0x${id}`).toString(), rule_set: 'tailrace-1', fingerprint: `select ${id.slice(-1)} from ledgers where id = ?`,
    verb: 'SELECT', seen_at: timestamp(seen), first_seen_at: timestamp(firstSeen), after_checkpoint: 0,
    tables_read: ['ledgers'], tables_written: [],
  };
}

function setting(instance, key, value, since, lastSeen) {
  return {
    cluster: 'ledger', instance, kind: 'settings', key, since: timestamp(since), last_seen: timestamp(lastSeen), attributes: { value },
  };
}
