WITH
{include:parts/entity_records}
-- Numbers of an entity by bar of `width` seconds. Rows before `begin` are the previous period, in one row without a bar.
-- Parameters: kind (user, client, table, class, session), name, connection, cluster, instance, from, begin, to; width.
--
-- Several logs may record one action: of each server and bar, the log with the most counts. A general log writes a login
-- before the server decides, and then its refusal. Rows for single tables repeat their statement.
SELECT
    is_current,
    toDateTime(if(is_current, bar_second, 0), 'UTC') AS bar,
    sum(most_logins) AS logins, sum(most_refused) AS refused, round(sum(most_statements)) AS statements,
    round(sum(most_failed) + sum(most_messages)) AS errors,
    round(sum(most_reads)) AS reads, round(sum(most_changes)) AS changes, round(sum(most_denied)) AS denied,
    sum(log_records) AS record_count
FROM (
    SELECT
        is_current, bar_second, instance,
        max(login_count) AS most_logins, max(refused_count) AS most_refused, max(statement_count) AS most_statements,
        max(failed_count) AS most_failed, max(message_count) AS most_messages,
        max(read_count) AS most_reads, max(change_count) AS most_changes, max(denied_count) AS most_denied,
        sum(record_count) AS log_records
    FROM (
        SELECT
            records.event_time >= {begin:DateTime64(6, 'UTC')} AS is_current,
            intDiv(toUnixTimestamp(records.event_time), {width:UInt32}) * {width:UInt32} AS bar_second,
            instance, log, event_kind = 'table' AS is_table,
            greatest(toInt64(countIf(is_login)) - if(log = 'general', toInt64(countIf(event_kind = 'refused')), 0), 0) AS login_count,
            countIf(event_kind = 'refused') AS refused_count,
            sumIf(executions, event_kind IN ('statement', 'failed', 'table')) AS statement_count,
            sumIf(executions, event_kind = 'failed') AS failed_count,
            countIf(event_kind = 'message') AS message_count,
            sumIf(executions, {kind:String} = 'class' AND notEmpty(tables_read)
                OR {kind:String} = 'table' AND has(tables_read, {name:String})) AS read_count,
            sumIf(executions, {kind:String} = 'class' AND notEmpty(tables_written)
                OR {kind:String} = 'table' AND has(tables_written, {name:String})) AS change_count,
            sumIf(executions, error_code IN ('1044', '1142', '1143', '1227', '1370')) AS denied_count,
            count() AS record_count
        FROM records
        GROUP BY is_current, bar_second, instance, log, is_table)
    GROUP BY is_current, bar_second, instance)
GROUP BY is_current, bar
ORDER BY is_current, bar
