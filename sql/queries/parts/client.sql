{#- The columns client_ip and client_host of the event tables (migrations 0096 to 0098), for rows that are grouped by `host` and `ip`:
    their names and addresses are then computed once per group instead of once per row. -#}
{%- macro client_ip() -%}
    multiIf(
        isIPv4String(if(ip = '', host, ip)), if(ip = '', host, ip),
        isIPv6String(if(ip = '', host, ip)),
        replaceRegexpOne(toString(toIPv6OrDefault(if(ip = '', host, ip))), '^::ffff:([0-9.]+)$', '\\1'),
        toString(ip))
{%- endmacro -%}
{%- macro client_host() -%} if(isIPv4String(host) OR isIPv6String(host), '', toString(host)) {%- endmacro -%}
