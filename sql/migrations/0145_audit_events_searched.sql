-- As 0144, for audit and general logs, which are sorted by server, class of event and user; also the statement, of which a text is
-- searched through its query ids.
ALTER TABLE tailrace.audit_events {on_cluster}
    ADD INDEX IF NOT EXISTS searched_user user TYPE set(64) GRANULARITY 1,
    ADD INDEX IF NOT EXISTS searched_client if(isIPv6String(if(ip = '', host, ip)),
        replaceRegexpOne(toString(toIPv6OrDefault(if(ip = '', host, ip))), '^::ffff:([0-9.]+)$', '\\1'),
        if(ip = '', host, ip)) TYPE bloom_filter(0.01) GRANULARITY 1,
    ADD INDEX IF NOT EXISTS searched_tables arrayMap(name -> splitByChar('.', name)[-1], arrayDistinct(arrayConcat(tables_read, tables_written)))
        TYPE bloom_filter(0.01) GRANULARITY 1,
    ADD INDEX IF NOT EXISTS searched_query query_id TYPE bloom_filter(0.01) GRANULARITY 1
