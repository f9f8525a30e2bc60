{%- include "parts/links.sql" -%}
{%- include "parts/entity_words.sql" -%}
-- Alerts, each with links to its page and to the sessions of its client, or else of its user, on its server, from 15
-- minutes before its first evidence to one hour after it.
{%- macro sessions_of(filters) -%}
    {{ link_within('session', "concat(" ~ iso("window_from - 900") ~ ", ' : ', " ~ iso("event_time + 3600") ~ ")",
        [('instance', 'instance', 'toString(instance)')] + filters, "'session'") }}
{%- endmacro %}
SELECT
    * REPLACE ({{ entity_in_words('entity', 'entity_key') }} AS entity_key),
    concat('<a href="/tailrace/alerts/', id, '/">alert</a>', if(instance = '', '', ' · '), multiIf(
        instance = '', '',
        src_ip != '', {{ sessions_of([('src_ip', 'src_ip', 'toString(src_ip)')]) }},
        user != '', {{ sessions_of([('user', 'user', 'toString(user)')]) }},
        {{ sessions_of([]) }})) AS link
FROM (
{%- include "alerts.sql" -%}
)
