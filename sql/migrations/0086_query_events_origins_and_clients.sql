-- What dashboards of months ask of every entry. `application` and `endpoint` are in the tags: a map has to be read
-- whole for one of its keys, a column of few values is read in a tenth of the time. The projection answers "which clients
-- used this account, since when, until when" from a row per client and day. It is a part of each part: it
-- comes and goes with the rows, also with blocks that are posted again and with a rewind.
ALTER TABLE tailrace.query_events {on_cluster}
    ADD COLUMN IF NOT EXISTS application LowCardinality(String)
        MATERIALIZED coalesce(nullIf(tags['application'], ''), tags['app']),
    ADD COLUMN IF NOT EXISTS endpoint LowCardinality(String)
        MATERIALIZED multiIf(tags['route'] != '', tags['route'],
            tags['controller'] != '', concat(tags['controller'], '#', tags['action']), tags['job']),
    ADD PROJECTION IF NOT EXISTS clients_by_day
    (
        SELECT cluster, instance, database, user, host, ip, toDate(event_time), count(), min(event_time), max(event_time)
        GROUP BY cluster, instance, database, user, host, ip, toDate(event_time)
    )
