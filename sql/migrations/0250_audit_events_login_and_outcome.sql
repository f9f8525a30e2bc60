-- Which records are logins, and what their outcome is: the one definition for all queries (ADR 0092). The detect job has the same in
-- LoginClassifier and StatusOutcome; schemas/contracts/login.json and outcome.json have the cases. Computed when it is read, so that
-- stored rows have it. `login_command` and `login_kind` are empty, `connect` or `change user`. A filter log may write several
-- records of one login with its command: `login_kind` is that of the one that counts. `login_result` is empty for records that are no login.
-- `has_failed`, `login_kind` and `is_account_use` need columns of the projections only, so that queries of months can use these.
-- `is_account_use`: not a login that failed or whose result the log does not contain, because a stranger chooses its name.
ALTER TABLE tailrace.audit_events {on_cluster}
    ADD COLUMN IF NOT EXISTS has_failed UInt8
        ALIAS status != 0 OR event_class = 'connection' AND startsWith(lower(command), 'failed'),
    ADD COLUMN IF NOT EXISTS event_outcome String
        ALIAS multiIf(has_failed, 'failure',
            has(flags, 'status_unknown') OR event_class = 'table'
                OR replaceAll(lower(if(event_name = '', toString(command), toString(event_name))), ' ', '_') IN (
                    'command_start', 'log', 'postparse', 'pre_authenticate', 'preparse', 'query_nested_start', 'query_start'),
            'unknown', 'success'),
    ADD COLUMN IF NOT EXISTS login_command String
        ALIAS multiIf(event_class != 'connection', '',
            lower(command) IN ('connect', 'failed_connect', 'failed login'), 'connect',
            lower(command) IN ('change user', 'change_user', 'changeuser'), 'change user', ''),
    ADD COLUMN IF NOT EXISTS login_kind String
        ALIAS if(lower(event_name) IN ('', 'connect', 'change_user'), login_command, ''),
    ADD COLUMN IF NOT EXISTS login_result String
        ALIAS multiIf(has(flags, 'logged_in'), 'success', login_kind = '', '', event_outcome),
    ADD COLUMN IF NOT EXISTS is_account_use UInt8
        ALIAS NOT (event_class = 'connection' AND (has_failed OR source = 'general' AND login_kind != ''
            OR replaceAll(lower(if(event_name = '', toString(command), toString(event_name))), ' ', '_') = 'pre_authenticate'))
