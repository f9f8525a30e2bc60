-- The columns of 0250 and 0251 for the sums of days, which have no flags. A test compares the expressions.
ALTER TABLE tailrace.entities_1d {on_cluster}
    ADD COLUMN IF NOT EXISTS has_failed UInt8
        ALIAS if(event_table = 'query_events',
            error_code NOT IN (0, 1003, 1287, 1681, 1831, 3090, 3135, 3719, 3778),
            error_code != 0 OR event_class = 'connection' AND startsWith(lower(command), 'failed')),
    ADD COLUMN IF NOT EXISTS login_command String
        ALIAS multiIf(event_class != 'connection', '',
            lower(command) IN ('connect', 'failed_connect', 'failed login'), 'connect',
            lower(command) IN ('change user', 'change_user', 'changeuser'), 'change user', ''),
    ADD COLUMN IF NOT EXISTS login_kind String
        ALIAS if(lower(event_name) IN ('', 'connect', 'change_user'), login_command, '')
