// Points of time of the workload and of its rows, in milliseconds since 1970.
//
// Environment: WORKLOAD_END, in seconds since 1970, a whole minute.

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The end of the workload. */
export const end = Number(process.env.WORKLOAD_END) * 1000;

/** A point of time as ClickHouse reads it; always UTC. */
export function timestamp(at) {
  return new Date(at).toISOString().replace('T', ' ').replace('Z', '');
}

/** The point of time of a row's event_time. */
export function timeOf(row) {
  return Date.parse(`${row.event_time.replace(' ', 'T')}Z`);
}
