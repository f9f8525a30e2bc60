// The workload of the developers' dashboards, generated from a fixed seed, so that every number has a known value.
//
// Three hours of four servers end at a given minute. An incident multiplies one query's latency on shop-db-2,
// one server samples its log (each entry stands for ten executions), and the six watched files show every
// state of the ledger. Rows have the columns of the ClickHouse tables (schemas/avro).

import { MINUTE, timeOf, timestamp } from './time.mjs';

export const MINUTES = 180;
const BANNER_BYTES = 214; // the three lines a server writes at the head of a slow log

/** Mulberry32: a small generator of numbers in [0, 1). The same seed gives the same numbers on every machine. */
export function generator(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A value of a log-normal distribution: its median and how many times larger the 84th percentile is. */
function logNormal(random, median, spread) {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return median * Math.exp(Math.log(spread) * normal);
}

const SHOP = ['shop-db-1', 'shop-db-2'];

// query_id, statement, where it runs, entries per minute and server, and its usual cost.
const STATEMENTS = [
  statement('5b1e8d0f3a924c77', 'select * from orders where customer_id = ? order by created_at desc limit ?',
    { instances: SHOP, database: 'shop', user: 'web', rate: 9, seconds: 0.11, spread: 2.1, examined: 1800, sent: 20 }),
  statement('c0a4e6129f7bd835',
    'select p.id, p.name, sum(i.quantity) as sold from products p join order_items i on i.product_id = p.id ' +
    'join orders o on o.id = i.order_id where o.created_at > ? group by p.id, p.name order by sold desc limit ?',
    { instances: SHOP, database: 'shop', user: 'web', rate: 2.2, seconds: 0.85, spread: 1.6, examined: 240000, sent: 50,
      incident: true }),
  statement('0f93b7a1d25c6e48', 'update inventory set reserved = reserved + ? where product_id = ? and warehouse_id = ?',
    { instances: ['shop-db-1'], database: 'shop', user: 'checkout', rate: 7, seconds: 0.045, spread: 2.4, examined: 1,
      sent: 0, lock: 0.3 }),
  statement('a71d5c3e8840f2b6', 'insert into order_events (order_id, kind, payload, created_at) values (?+)',
    { instances: ['shop-db-1'], database: 'shop', user: 'checkout', rate: 5, seconds: 0.03, spread: 1.9, examined: 0, sent: 0 }),
  statement('3e62f90b1ad7c854', 'select id, email, locale from customers where email like ? order by id limit ?',
    { instances: ['shop-db-2'], database: 'shop', user: 'support', rate: 0.8, seconds: 1.9, spread: 1.5, examined: 910000, sent: 14 }),
  statement('96d2047be8f15ca3', 'delete from sessions where expires_at < ? limit ?',
    { instances: ['shop-db-1'], database: 'shop', user: 'cron', rate: 0.5, seconds: 1.2, spread: 1.4, examined: 10000, sent: 0 }),
  statement('e85a1c6094b3df72', 'select * from invoices where status = ? and due_date < ? order by due_date for update',
    { instances: ['billing-db-1'], database: 'billing', user: 'billing', rate: 3, seconds: 0.38, spread: 2.0, examined: 5200,
      sent: 110, lock: 0.15 }),
  statement('2c7f08d5b946a1e3', 'update ledger_accounts set balance = balance + ? where account_id = ?',
    { instances: ['billing-db-1'], database: 'billing', user: 'billing', rate: 6, seconds: 0.07, spread: 2.2, examined: 1,
      sent: 0, lock: 0.4 }),
  statement('d4196ea30c8b57f2', 'call reconcile_month(?, ?)',
    { instances: ['billing-db-1'], database: 'billing', user: 'cron', rate: 0.12, seconds: 14, spread: 1.3, examined: 2600000,
      sent: 1 }),
  statement('7a3bd8f15e20c946',
    'select date(o.created_at) as day, c.country, count(*), sum(o.total) from orders o join customers c on c.id = o.customer_id ' +
    'where o.created_at between ? and ? group by day, c.country with rollup',
    { instances: ['analytics-1'], database: 'warehouse', user: 'reporting', rate: 0.35, seconds: 6, spread: 1.5,
      examined: 4100000, sent: 900 }),
  statement('b80e4f7d61a3925c', 'select country, currency, avg(total) from orders_daily where day >= ? group by country, currency',
    { instances: ['analytics-1'], database: 'warehouse', user: 'analyst', rate: 0.3, seconds: 0.4, spread: 2.0,
      examined: 36000, sent: 240, weight: 10 }),
  statement('18c5a2f97d6be034', 'administrator command: Ping',
    { instances: ['billing-db-1'], database: '', user: 'monitor', rate: 0.4, seconds: 0, spread: 1, examined: 0, sent: 0 }),
];

function statement(queryId, fingerprint, traits) {
  return { queryId, fingerprint, lock: 0, weight: 1, incident: false, ...traits };
}

const CLUSTER = { 'shop-db-1': 'shop', 'shop-db-2': 'shop', 'billing-db-1': 'billing', 'analytics-1': 'analytics' };
const INCIDENT = { instance: 'shop-db-2', from: 108, to: 131, slower: 7, oftener: 2.5 }; // minutes from the start

/** Rows of query_events and fingerprints for the three hours before `end` (ms, a whole minute). */
export function slowQueries(end) {
  const random = generator(20260101);
  const start = end - MINUTES * MINUTE;
  const events = STATEMENTS.flatMap((stated) =>
    stated.instances.flatMap((instance) => eventsOf(stated, instance, start, random)));
  events.forEach((event) => Object.assign(event, planOf(event, start), errorOf(event)));
  return { events, fingerprints: STATEMENTS.map((stated) => fingerprintRow(stated, end)), ...plansOf(events), ...tracesOf(events) };
}

// Plans of statements, by query_id. The statement of the incident has another plan during the incident.
const PLANS = {
  '5b1e8d0f3a924c77': [plan('5B1E0000AAAA0001', ['orders'], ['ref'], ['by_customer'], 12.5,
    ['query block', '  sort, filesort', '    orders: ref by by_customer, 40 rows'], [])],
  'c0a4e6129f7bd835': [
    plan('C0A40000AAAA0001', ['o', 'i', 'p'], ['range', 'ref', 'eq_ref'], ['by_created', 'by_order', 'PRIMARY'], 41_000,
      ['query block', '  sort, filesort', '    temporary table', '      join', '        o: range by by_created, 9,000 rows',
        '        i: ref by by_order, 3 rows', '        p: eq_ref by PRIMARY, 1 rows'],
      ['filesort · many rows are sorted: an index in this order would give them sorted · up to 27,000 rows']),
    plan('C0A40000BBBB0002', ['p', 'i', 'o'], ['ALL', 'ref', 'eq_ref'], ['', 'by_product', 'PRIMARY'], 980_000,
      ['query block', '  sort, filesort', '    temporary table', '      join', '        p: ALL, 240,000 rows',
        '        i: ref by by_product, 11 rows', '        o: eq_ref by PRIMARY, 1 rows'],
      ['filesort · many rows are sorted: an index in this order would give them sorted · up to 240,000 rows',
        'full scan · p: all rows are read: no condition says which are needed · reads 240,000 rows'])],
  '3e62f90b1ad7c854': [plan('3E620000AAAA0001', ['customers'], ['ALL'], [''], 91_000,
    ['query block', '  customers: ALL, 910,000 rows'],
    ['non sargable · customers: LIKE with a pattern that starts with a wildcard reads every row: consider a full-text index'
      + ' · reads 910,000 rows for customers.email like ?'])],
};

function plan(hash, tables, accessTypes, indexes, cost, tree, advice) {
  return { plan_hash: hash, tables, access_types: accessTypes, indexes, cost, tree: tree.join('\n'), advice };
}

/** The columns of an execution that contain its plan. */
function planOf(event, start) {
  const minute = (timeOf(event) - start) / MINUTE;
  const plans = PLANS[idOf(event)] ?? [];
  const other = plans.length > 1 && event.instance === INCIDENT.instance && minute >= INCIDENT.from && minute < INCIDENT.to;
  return { plan_hash: plans[other ? 1 : 0]?.plan_hash ?? '' };
}

/** One of fifty statements that lock rows exceeds the lock wait timeout. */
function errorOf(event) {
  return { error_code: idOf(event) === 'e85a1c6094b3df72' && event.entry_offset % 20_000 === 0 ? 1205 : null };
}

function idOf(event) {
  return BigInt(event.query_id).toString(16).padStart(16, '0');
}

/** Rows of plans and plan_changes, as the jobs derive them from these executions. */
function plansOf(events) {
  const rows = Object.entries(PLANS).flatMap(([id, its]) => its.flatMap((one) => {
    const seen = events.filter((event) => event.plan_hash === one.plan_hash);
    return [...new Set(seen.map((event) => event.instance))].map((instance) => {
      const times = seen.filter((event) => event.instance === instance).map((event) => event.event_time).sort();
      return {
        ...one, cluster: CLUSTER[instance], instance, query_id: BigInt(`0x${id}`).toString(), hash_rules: 'plan-1',
        source: 'slowlog', seen_at: times.at(-1), first_seen_at: times[0], database: seen[0].database, format: 'rows',
        model: '{}', after_checkpoint: 0,
      };
    });
  }));
  const id = 'c0a4e6129f7bd835';
  const [usual, other] = PLANS[id].map((one) => one.plan_hash);
  const its = events.filter((event) => event.instance === INCIDENT.instance && idOf(event) === id)
    .sort((a, b) => a.event_time.localeCompare(b.event_time));
  const first = its.findIndex((event) => event.plan_hash === other);
  const last = its.findLastIndex((event) => event.plan_hash === other);
  const change = (at, from, to, verdict, ratio) => ({
    cluster: CLUSTER[INCIDENT.instance], instance: INCIDENT.instance, database: 'shop', query_id: BigInt(`0x${id}`).toString(),
    changed_at: its[at].event_time, old_plan: from, new_plan: to, verdict, verdict_at: its[at + 25].event_time, ratio,
    executions_before: 80, executions_after: 40, median_before: 1, median_after: ratio, updated_at: its[at + 25].event_time,
    rows_examined_before: 240_000, rows_examined_after: 240_000,
  });
  return { plans: rows, planChanges: [change(first, usual, other, 'slower', 6.9), change(last + 1, other, usual, 'faster', 0.14)] };
}

const ENDPOINTS = {
  '5b1e8d0f3a924c77': 'GET /customers/{id}/orders',
  'c0a4e6129f7bd835': 'GET /reports/best-sellers',
};
const TRACED = 4; // one of this many executions has a trace
const CALLS_OF_LOOP = 6;
const LOOPED = '0f93b7a1d25c6e48';

/** Spans of the requests that ran some of the executions; those get the ids of their trace. */
function tracesOf(events) {
  const random = generator(4711);
  const spans = [];
  events.filter((event) => idOf(event) in ENDPOINTS).forEach((event, number) => {
    if (number % TRACED === 0) {
      Object.assign(event, { trace_id: digits(random, 32), span_id: digits(random, 16) });
      spans.push(...requestOf(event, random));
    }
  });
  return { spans };
}

/** A request that runs a logged statement. The request of the report also runs a short statement in a loop, which no log contains. */
function requestOf(event, random) {
  const endpoint = ENDPOINTS[idOf(event)];
  const began = timeOf(event) - 1000 * event.query_time;
  const span = (id, at, seconds, columns) => ({
    Timestamp: timestamp(at), TraceId: event.trace_id, SpanId: id, ServiceName: 'shop-web', Duration: Math.round(seconds * 1e9),
    StatusCode: 'Unset', ...columns,
  });
  const call = (id, at, seconds, queryId) => {
    const stated = STATEMENTS.find((one) => one.queryId === queryId);
    return span(id, at, seconds, {
      ParentSpanId: root, SpanKind: 'Client', SpanName: stated.fingerprint.split(' ')[0].toUpperCase(), database: stated.database,
      query_id: BigInt(`0x${queryId}`).toString(), rule_set: 'tailrace-1', fingerprint: stated.fingerprint,
    });
  };
  const root = digits(random, 16);
  const loop = idOf(event) === 'c0a4e6129f7bd835' ? Array.from({ length: CALLS_OF_LOOP }, (_, i) => i) : [];
  return [
    span(root, began - 5, event.query_time + 0.02 + 0.002 * loop.length, { SpanKind: 'Server', SpanName: endpoint, endpoint }),
    call(event.span_id, began, event.query_time + 0.001, idOf(event)),
    ...loop.map((i) => call(digits(random, 16), began + 1000 * event.query_time + 2 * (i + 1), 0.001, LOOPED)),
  ];
}

function digits(random, count) {
  return Array.from({ length: count }, () => Math.floor(random() * 16).toString(16)).join('');
}

function eventsOf(stated, instance, start, random) {
  const events = [];
  for (let minute = 0; minute < MINUTES; minute++) {
    const troubled = stated.incident && instance === INCIDENT.instance
      && minute >= INCIDENT.from && minute < INCIDENT.to;
    const wave = 1 + 0.35 * Math.sin((minute / MINUTES) * 2 * Math.PI);
    const expected = stated.rate * wave * (troubled ? INCIDENT.oftener : 1);
    const count = Math.floor(expected + random());
    for (let i = 0; i < count; i++) {
      const at = start + minute * MINUTE + Math.floor(random() * MINUTE);
      events.push(event(stated, instance, at, troubled ? INCIDENT.slower : 1, random, events.length));
    }
  }
  return events;
}

function event(stated, instance, at, slower, random, offset) {
  const seconds = stated.seconds === 0 ? 0 : logNormal(random, stated.seconds * slower, stated.spread);
  const queryTime = Math.round(seconds * 1e6) / 1e6;
  return {
    event_id: uuid(random), cluster: CLUSTER[instance], instance, source: 'slowlog', log: '/var/log/mysql/slow.log',
    generation: 1, entry_offset: offset * 400, entry_bytes: 400, format: 'mysql-slow',
    event_time: timestamp(at), connection_id: 1 + Math.floor(random() * 400), user: stated.user,
    host: `app-${1 + Math.floor(random() * 4)}`, ip: '', database: stated.database,
    query_id: BigInt(`0x${stated.queryId}`).toString(), rule_set: 'tailrace-1',
    verb: stated.fingerprint.split(' ')[0].toUpperCase(), query_time: queryTime,
    lock_time: Math.round(queryTime * stated.lock * random() * 1e6) / 1e6,
    rows_sent: stated.sent && Math.max(1, Math.round(logNormal(random, stated.sent, 1.5))),
    rows_examined: stated.examined && Math.max(1, Math.round(logNormal(random, stated.examined, 1.4))),
    rows_affected: null, bytes_sent: null, error_code: null, weight: stated.weight,
    plan_flags: [], explain: '', attributes: {}, flags: [], after_checkpoint: 0,
  };
}

function fingerprintRow(stated, end) {
  return {
    query_id: BigInt(`0x${stated.queryId}`).toString(), rule_set: 'tailrace-1', fingerprint: stated.fingerprint,
    verb: stated.fingerprint.split(' ')[0].toUpperCase(), seen_at: timestamp(end), after_checkpoint: 0,
    tables_read: [...stated.fingerprint.matchAll(/(?:from|join) (\w+)/g)].map(([, table]) => table), tables_written: [],
  };
}

export function uuid(random) {
  return digits(random, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

// What happens to each watched file: minutes counted from the start, `to` exclusive.
const FILES = [
  { instance: 'shop-db-1', source: 'slowlog', log: '/var/log/mysql/slow.log', rate: 21_000, rotatedAt: 85 },
  { instance: 'shop-db-1', source: 'audit', log: '/var/log/mysql/audit.log', rate: 64_000, duplicates: 37 },
  { instance: 'shop-db-2', source: 'slowlog', log: '/var/log/mysql/slow.log', rate: 14_000,
    lost: { from: 112, to: 119 }, repaired: { from: 116, to: 119 } },
  { instance: 'billing-db-1', source: 'audit', log: '/var/log/mysql/audit.log', rate: 48_000,
    unwatched: { from: 48, to: 61 } },
  { instance: 'billing-db-1', source: 'slowlog', log: '/var/log/mysql/slow.log', rate: 9_000,
    deadLetters: [{ minute: 30, code: 'BAD_TIME' }, { minute: 31, code: 'BAD_TIME' }, { minute: 97, code: 'INCOMPLETE' }] },
  { instance: 'analytics-1', source: 'slowlog', log: '/var/log/mysql/slow.log', rate: 5_000, stuckFrom: 166 },
];

/** Postings and dead letters of the watched files, and the expected ledger of each of them. */
export function logFiles(end) {
  const random = generator(77);
  const start = end - MINUTES * MINUTE;
  const files = FILES.map((file) => new LogFile({ cluster: CLUSTER[file.instance], ...file }, start, random).write());
  return {
    ledger: files.flatMap((file) => file.postings),
    deadLetters: files.flatMap((file) => file.deadLetters),
    files: files.map((file) => file.expected()),
  };
}

/** Writes the postings of one log by minute, and counts the bytes by category separately. */
class LogFile {
  constructor(traits, start, random) {
    Object.assign(this, { traits, start, random, postings: [], deadLetters: [], states: [] });
    this.open(1);
    this.booked = { gapBytes: 0, deadLetters: 0, duplicates: 0, events: 0 };
  }

  open(generation) {
    Object.assign(this, { generation, size: 0, accounted: 0 });
    this.inode = 4_000_000 + Math.floor(this.random() * 1_000_000);
  }

  write() {
    for (let minute = 0; minute < MINUTES; minute++) {
      if (minute === this.traits.rotatedAt) {
        this.open(this.generation + 1);
      }
      this.writeMinute(minute);
    }
    return this;
  }

  writeMinute(minute) {
    const { rate, stuckFrom, lost, repaired } = this.traits;
    const grown = Math.round(rate * (0.7 + 0.6 * this.random())) + (this.size === 0 ? BANNER_BYTES : 0);
    const from = this.size;
    this.size += grown;
    const stuck = minute >= stuckFrom;
    if (!stuck) {
      this.account(minute, from, within(minute, lost));
      if (within(minute, repaired)) {
        this.repair(minute, from);
      }
    }
    const unwatched = within(minute, this.traits.unwatched);
    if (!unwatched) {
      this.census(minute, from, stuck);
    }
    const missing = within(minute, lost) && !within(minute, repaired);
    this.states.push(unwatched ? 'unknown' : missing ? 'missing' : stuck ? 'behind' : 'covered');
  }

  account(minute, from, lost) {
    if (lost) {
      this.post(minute, 'FRAMER', 'GAP', from, this.size, 0, 'lost');
      this.booked.gapBytes += this.size - from;
    } else {
      const start = from === 0 ? BANNER_BYTES : from;
      if (from === 0) {
        this.post(minute, 'FRAMER', 'FRAMING', 0, start, 0, 'banner');
      }
      this.entries(minute, start, this.size);
    }
    this.accounted = this.size;
  }

  entries(minute, from, to) {
    const count = Math.max(2, Math.round((to - from) / 400));
    const dead = (this.traits.deadLetters ?? []).filter((letter) => letter.minute === minute);
    this.post(minute, 'FRAMER', 'ENTRY', from, to, count);
    dead.forEach((letter, i) => this.die(minute, letter.code, from + 400 * i));
    this.post(minute, 'PARSER', 'EVENT', from + 400 * dead.length, to, count - dead.length);
    this.booked.events += count - dead.length;
    if (this.traits.duplicates && minute === 70) {
      this.post(minute, 'FRAMER', 'DUPLICATE', from, to, this.traits.duplicates);
      this.booked.duplicates += this.traits.duplicates;
    }
  }

  die(minute, code, from) {
    const { cluster, instance, source, log } = this.traits;
    this.post(minute, 'PARSER', 'DEAD_LETTER', from, from + 400, 1, code);
    this.booked.deadLetters++;
    this.deadLetters.push({
      dead_letter_id: uuid(this.random), cluster, instance, source, log, generation: this.generation,
      entry_offset: from, entry_bytes: 400, stage: 'PARSER', code,
      message: `expected a time, found none (offset ${from})`, raw: 'secret', seen_at: this.time(minute, 31),
      superseded: false, version: '0.1.0', after_checkpoint: 0,
    });
  }

  /** The postings of a backfill: the gap is withdrawn, and its bytes get other postings. */
  repair(minute, from) {
    this.post(minute, 'FRAMER', 'GAP', from, this.size, 0, 'lost', -1);
    this.booked.gapBytes -= this.size - from;
    this.entries(minute, from, this.size);
  }

  /** Six censuses of the minute, with the position of the framer at each of them. */
  census(minute, from, stuck) {
    for (let census = 1; census <= 6; census++) {
      const size = from + Math.round(((this.size - from) * census) / 6);
      this.post(minute, 'FRAMER', 'CENSUS', 0, 0, 0, '', 1, { size, inode: this.inode }, census * 10 - 5);
    }
    if (!stuck) {
      this.post(minute, 'FRAMER', 'FRONTIER', this.accounted, this.size, 0, '', 1, { inode: this.inode }, 57);
    }
  }

  post(minute, stage, kind, from, to, count, detail = '', sign = 1, more = {}, second = 45) {
    const { cluster, instance, source, log } = this.traits;
    const bytes = kind === 'CENSUS' || kind === 'FRONTIER' ? 0 : (to - from) * sign;
    this.postings.push({
      cluster, instance, source, log, path: log, generation: this.generation, stage, kind, detail,
      from_offset: from, to_offset: to, count: count * sign, bytes, size: 0, inode: 0,
      at: this.time(minute, second), after_checkpoint: 0, ...more,
    });
  }

  time(minute, second) {
    return timestamp(this.start + minute * MINUTE + second * 1000);
  }

  expected() {
    const { cluster, instance, source, log } = this.traits;
    return { cluster, instance, source, log, states: this.states, behind: this.size - this.accounted, ...this.booked };
  }
}

function within(minute, span) {
  return span !== undefined && minute >= span.from && minute < span.to;
}
