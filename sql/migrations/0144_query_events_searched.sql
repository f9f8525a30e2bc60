-- A search names a user, a client or a table, and the entries are sorted by server and statement. A granule has few of each: the
-- filters skip the granules without the wanted one. A table is found with or without its database, hence by its own name. The
-- expressions are those of embedded/tailrace/search/sources.py, otherwise ClickHouse does not use the indexes; a test compares.
ALTER TABLE tailrace.query_events {on_cluster}
    ADD INDEX IF NOT EXISTS searched_user user TYPE set(64) GRANULARITY 1,
    ADD INDEX IF NOT EXISTS searched_client if(isIPv6String(if(ip = '', host, ip)),
        replaceRegexpOne(toString(toIPv6OrDefault(if(ip = '', host, ip))), '^::ffff:([0-9.]+)$', '\\1'),
        if(ip = '', host, ip)) TYPE bloom_filter(0.01) GRANULARITY 1,
    ADD INDEX IF NOT EXISTS searched_tables arrayMap(name -> splitByChar('.', name)[-1], arrayDistinct(arrayConcat(tables_read, tables_written)))
        TYPE bloom_filter(0.01) GRANULARITY 1
