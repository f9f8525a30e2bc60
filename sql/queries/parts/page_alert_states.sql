    done AS ({{ last_actions() }}),
    shown AS (
        SELECT
            * EXCEPT (last_change, last_verdict, last_assignee),
            {{ alert_state() }} AS state,
            {{ alert_verdict() }} AS verdict,
            last_assignee AS assignee
        FROM filtered
        LEFT JOIN done USING (alert_id)
        WHERE multiIf(
                {state:String} = 'any', true,
                {state:String} = 'closed', state = 'closed',
                {state:String} = 'suppressed', silenced AND state != 'closed',
                {state:String} = 'active', NOT silenced AND state != 'closed',
                NOT silenced AND state = {state:String})
            AND ({verdict:String} = '' OR verdict = {verdict:String})
            AND ({by_assignee:String} = '' OR assignee = {assignee:String}))
