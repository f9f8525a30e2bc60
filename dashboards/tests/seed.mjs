// Inserts the workload into ClickHouse as the Flink job would: as `writer`, into the raw tables only.
//
// Environment: CLICKHOUSE_URL, CLICKHOUSE_PASSWORD (of writer), WORKLOAD_END (seconds since 1970, a whole minute).

import { logFiles, slowQueries } from './workload.mjs';

async function insert(table, rows) {
  const query = encodeURIComponent(`INSERT INTO tailrace.${table} FORMAT JSONEachRow`);
  const answer = await fetch(`${process.env.CLICKHOUSE_URL}/?query=${query}`, {
    method: 'POST',
    headers: { 'X-ClickHouse-User': 'writer', 'X-ClickHouse-Key': process.env.CLICKHOUSE_PASSWORD },
    body: rows.map((row) => JSON.stringify(row)).join('\n'),
  });
  if (!answer.ok) {
    throw new Error(`${table}: ${await answer.text()}`);
  }
}

const end = Number(process.env.WORKLOAD_END) * 1000;
const { events, fingerprints } = slowQueries(end);
const { ledger, deadLetters } = logFiles(end);
await insert('query_events', events);
await insert('fingerprints', fingerprints);
await insert('ledger', ledger);
await insert('dead_letters', deadLetters);
