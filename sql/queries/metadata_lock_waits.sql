{%- include "parts/time_range.sql" -%}
{%- include "parts/links.sql" -%}
{%- include "parts/display_names.sql" -%}
{%- include "parts/number_texts.sql" -%}
{%- macro who(side) -%}
    concat(
        if({{ side }}_user = '', if({{ side }}_connection = 0, 'thread of the server', 'unknown'), {{ side }}_user),
        if({{ side }}_host = '', '', concat(' from ', {{ side }}_host)),
        if({{ side }}_connection = 0, '', concat(', connection ', toString({{ side }}_connection))))
{%- endmacro -%}
-- Waits for metadata locks: a session that waits, and a session that has a lock of the same object. Capture reads them at each
-- poll; successive polls of one command of the waiting session are one row. `waited_seconds` is until the last of these polls.
--
-- A wait that ended before the next poll has one poll. Sessions without a connection are threads of the server. `waits` counts a
-- waiting session once, however many sessions have a lock.
WITH
    {{ shown_range(1) }},
{%- include "parts/metadata_lock_waits.sql" -%}
SELECT
    last_at AS at, began AS waits_since, cluster, instance,
    {{ named('database') }}, waiting_user AS user,
    concat(lower(object_type), if(object_name = '' AND waits.database = '', '',
        concat(' ', arrayStringConcat(arrayFilter(each -> each != '', [waits.database, object_name]), '.')))) AS locked_object,
    {{ who('waiting') }} AS waiter, waiting_lock, waited_seconds, polls,
    {{ who('holding') }} AS holder, holding_lock,
    if(
        holding_command = '', 'unknown',
        concat(if(holding_command = 'Sleep', 'idle', holding_command), ' for ', {{ readable_seconds('held_seconds') }})) AS holder_state,
    holding_command = 'Sleep' AS is_idle,
    concat(instance, ' ', toString(waiting_connection), ' ', toString(began)) AS waiting_session,
    concat(instance, ' ', toString(holding_connection)) AS holding_session,
    if(waiting_connection = 0, '', {{ link_around('errors', 'last_at', 3600,
        [('instance', 'instance', 'instance'), ('connection_id', 'connection_id', 'toString(waiting_connection)')], "'waiting'",
        tab='TAB-errors-one-connection') }}) AS waiter_link,
    if(holding_connection = 0, '', {{ link_around('errors', 'last_at', 3600,
        [('instance', 'instance', 'instance'), ('connection_id', 'connection_id', 'toString(holding_connection)')], "'holding'",
        tab='TAB-errors-one-connection') }}) AS link,
    if(object_name = '', '', {{ page_of_table("concat(waits.database, '.', object_name)", "'statements'") }}) AS statements_link
FROM waits
