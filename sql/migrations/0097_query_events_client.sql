-- Where the client is, in one form. Logs write its address into their field for the host, too, and rows that were stored
-- before the parsers told them apart have it there. Made when it is read, so that rows of the past have it.
-- The same as io.tailrace.client.Client: an IPv4 address that is mapped to IPv6 is one of IPv4.
ALTER TABLE tailrace.query_events {on_cluster}
    ADD COLUMN IF NOT EXISTS client_ip String
        ALIAS multiIf(isIPv4String(if(ip = '', host, ip)), if(ip = '', host, ip),
            isIPv6String(if(ip = '', host, ip)),
            replaceRegexpOne(toString(toIPv6OrDefault(if(ip = '', host, ip))), '^::ffff:([0-9.]+)$', '\\1'),
            toString(ip)),
    ADD COLUMN IF NOT EXISTS client_host String
        ALIAS if(isIPv4String(host) OR isIPv6String(host), '', toString(host))
