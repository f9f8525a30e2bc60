// Inserts the workload into ClickHouse as the normalize job does: as `writer`, into the tables of the job only. Inserts reviews,
// snapshots and unmasked accesses with the accounts of the auditor, the snapshot loader and the access recorder.
//
// Environment: CLICKHOUSE_URL, CLICKHOUSE_PASSWORD (of writer), AUDITOR_PASSWORD, FACTS_PASSWORD, WITNESS_PASSWORD,
// WORKLOAD_END (seconds since 1970, a whole minute).

import { auditTrail, dataAccess, pullCosts, reviews, serverFacts } from './compliance_workload.mjs';
import { security } from './security_workload.mjs';
import { comparedStatements } from './developer_workload.mjs';
import { DAY, end, timestamp } from './time.mjs';
import { logFiles, slowQueries } from './workload.mjs';

const PASSWORDS = {
  writer: process.env.CLICKHOUSE_PASSWORD,
  auditor: process.env.AUDITOR_PASSWORD,
  facts: process.env.FACTS_PASSWORD,
  witness: process.env.WITNESS_PASSWORD,
};

async function insert(table, rows, user = 'writer') {
  const columns = ['auditor', 'witness'].includes(user) ? ` (${Object.keys(rows[0]).join(', ')})` : ''; // the server sets the other columns
  const query = encodeURIComponent(`INSERT INTO tailrace.${table}${columns} FORMAT JSONEachRow`);
  const answer = await fetch(`${process.env.CLICKHOUSE_URL}/?query=${query}`, {
    method: 'POST',
    headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': PASSWORDS[user] },
    body: rows.map((row) => JSON.stringify(row)).join('\n'),
  });
  if (!answer.ok) {
    throw new Error(`${table}: ${await answer.text()}`);
  }
}

const { events, fingerprints, plans, planChanges, spans } = slowQueries(end);
const { ledger, deadLetters } = logFiles(end);
await insert('query_events', events);
await insert('fingerprints', fingerprints);
await insert('plans', plans);
await insert('plan_changes', planChanges);
await insert('otel_traces', spans);
await insert('ledger', ledger);
await insert('dead_letters', deadLetters);

const access = dataAccess(end);
await insert('fingerprints', access.fingerprints);
await insert('data_access', access.outdated);
await insert('data_access', access.records);
const trail = auditTrail(end);
await insert('fingerprints', trail.fingerprints);
await insert('audit_events', trail.events);
const { snapshots, facts, changes } = serverFacts(end);
await insert('server_facts', facts, 'facts');
await insert('server_changes', changes, 'facts');
await insert('server_snapshots', snapshots, 'facts');
await insert('pull_costs', pullCosts(end), 'facts');
const { signed, exported, accesses } = reviews(end);
await insert('reviews', signed, 'auditor');
await insert('evidence_exports', exported, 'auditor');
await insert('unmasked_looks', accesses, 'witness');
const compared = comparedStatements(end);
await insert('query_events', compared.events);
await insert('error_events', compared.errorEvents);
await insert('fingerprints', compared.fingerprints);
await insert('server_facts', compared.serverFacts, 'facts');
await insert('metadata_lock_waits', compared.lockWaits, 'facts');
await insert('server_snapshots', compared.snapshots, 'facts');
const investigated = security(end);
await insert('audit_events', investigated.auditEvents);
await insert('error_events', investigated.errorEvents);
await insert('alerts', investigated.alerts);
await insert('rule_pushes', investigated.pushes);
await insert('rule_coverage', investigated.coverage);
await insert('fingerprints', investigated.fingerprints);
// Tables of all servers have a second page, and fit with a long name. The records are older than the time ranges of the tests.
const LONG_NAME = 'billing-primary-replica-2.c9akciq32rtxexample.eu-central-1.rds.amazonaws.com';
const numbered = [LONG_NAME, ...[1, 2, 3, 4, 5, 6].map((number) => `orders-db-${number}`)];
await insert('query_events', numbered.map((instance, number) => ({
  cluster: 'long', instance, event_time: timestamp(end - 40 * DAY), query_id: `${900 + number}`, query_time: 1, weight: 1,
})));
await insert('fingerprints', numbered.map((_, number) => ({
  query_id: `${900 + number}`, rule_set: 'tailrace-1', fingerprint: `select ${number} from orders`, verb: 'SELECT',
  seen_at: timestamp(end - 40 * DAY), first_seen_at: timestamp(end - 40 * DAY), after_checkpoint: 0,
  tables_read: ['orders'], tables_written: [],
})));
