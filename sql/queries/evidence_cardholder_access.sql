-- Each action that read or changed data of a class, with user, time, client, program and the source of the table names.
-- An action in several logs is one row, and `seen_in` names them; rows_sent comes from the slow log. Aggregates do not depend on the order of inserts:
-- a second export of the same rows has the same lines.
-- A table that one log names with its database and another without is named once; one record that has both names means two tables.
-- Parameters: from, to; class.
WITH
    groupUniqArray(data_access.tables) AS records,
    arrayDistinct(arrayFlatten(records)) AS all_tables
SELECT
    min(event_time) AS at, cluster, instance, max(data_access.user) AS user, max(host) AS client_host, max(src_ip) AS client_ip,
    max(program) AS client_program,
    multiIf(max(has(data_class_read, {class:String})) AND max(has(data_class_written, {class:String})), 'read and changed',
        max(has(data_class_written, {class:String})), 'changed', 'read') AS access,
    max(verb) AS action,
    arrayStringConcat(arraySort(arrayFilter(
        name -> NOT arrayExists(other -> endsWith(other, concat('.', name)), all_tables)
            OR arrayExists(record -> has(record, name) AND arrayExists(other -> endsWith(other, concat('.', name)), record), records),
        all_tables)), ', ') AS affected_tables,
    arrayStringConcat(arraySort(groupUniqArrayArray(data_access.basis)), ', ') AS known_by,
    max(data_access.rows_sent) AS sent_rows,
    multiIf(max(outcome = 'failure'), 'failure', max(outcome = 'success'), 'success', 'unknown') AS result,
    max(lower(leftPad(hex(query_id), 16, '0'))) AS statement_id, max(connection_id) AS connection,
    arrayStringConcat(arraySort(groupUniqArray(source)), ', ') AS seen_in, action_id
FROM tailrace.data_access_by_action(begin = {from:DateTime('UTC')}, until = {to:DateTime('UTC')}) AS data_access
WHERE has(data_class, {class:String})
GROUP BY cluster, instance, action_id
ORDER BY at, instance, action_id
