-- As 0142 and 0144, for the messages, users and clients of error logs.
ALTER TABLE tailrace.error_events {on_cluster}
    ADD INDEX IF NOT EXISTS searched_text lowerUTF8(message) TYPE ngrambf_v1(3, 8192, 3, 0) GRANULARITY 1,
    ADD INDEX IF NOT EXISTS searched_user user TYPE set(64) GRANULARITY 1,
    ADD INDEX IF NOT EXISTS searched_client if(isIPv6String(if(ip = '', host, ip)),
        replaceRegexpOne(toString(toIPv6OrDefault(if(ip = '', host, ip))), '^::ffff:([0-9.]+)$', '\\1'),
        if(ip = '', host, ip)) TYPE bloom_filter(0.01) GRANULARITY 1
