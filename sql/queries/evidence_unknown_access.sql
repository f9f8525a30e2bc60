-- Each action that may have touched more tables than its events name, so that access to a data class is unknown: calls
-- of routines that are not listed, statements that the log truncated, and the other cases of docs/DATA-CLASSES.md.
-- Parameters: from, to; class: actions that are known to have touched it are excluded.
SELECT
    min(event_time) AS at, cluster, instance, max(data_access.user) AS user, max(host) AS client_host, max(src_ip) AS client_ip,
    max(program) AS client_program, max(verb) AS action,
    arrayStringConcat(arraySort(groupUniqArrayArray(data_access.tables)), ', ') AS known_tables,
    max(data_access.rows_sent) AS sent_rows,
    max(lower(leftPad(hex(query_id), 16, '0'))) AS statement_id, max(connection_id) AS connection,
    arrayStringConcat(arraySort(groupUniqArray(source)), ', ') AS seen_in, action_id
FROM tailrace.data_access_by_action(begin = {from:DateTime('UTC')}, until = {to:DateTime('UTC')}) AS data_access
GROUP BY cluster, instance, action_id
HAVING max(has(data_access.basis, 'unknown')) AND NOT max(has(data_class, {class:String}))
ORDER BY at, instance, action_id
