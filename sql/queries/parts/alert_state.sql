{# The triage state of an alert follows from the actions on it (tailrace.alert_actions): open until it is acknowledged (ack) or
    closed, and open again when it is reopened. -#}
{#- Columns of a query of the actions that groups by alert. -#}
{%- macro last_change() -%} argMaxIf(action, at, action IN ('ack', 'close', 'reopen')) {%- endmacro -%}
{%- macro last_verdict() -%} argMaxIf(verdict, at, action = 'close') {%- endmacro -%}
{%- macro last_assignee() -%} argMaxIf(assignee, at, action = 'assign') {%- endmacro -%}
{#- The query of the actions whose columns the next macros need, with `further` columns, of alerts that a `condition` selects. -#}
{%- macro last_actions(condition='', further='') -%}
    SELECT
        alert_id,
        {{ last_change() }} AS last_change,
        {{ last_verdict() }} AS last_verdict,
        {{ last_assignee() }} AS last_assignee
        {%- if further %}, {{ further }}{% endif %}
    FROM tailrace.alert_actions
    {%- if condition %} WHERE {{ condition }}{% endif %}
    GROUP BY alert_id
{%- endmacro -%}
{#- Columns of a query that joins them to alerts as last_change and last_verdict. -#}
{%- macro alert_state() -%}
    multiIf(last_change = 'close', 'closed', last_change = 'ack', 'acknowledged', 'open')
{%- endmacro -%}
{%- macro alert_verdict() -%} if(last_change = 'close', last_verdict, '') {%- endmacro -%}
{#- What an alert turned out to be: a verdict, `closed` without one, or its state; `suppressed` unless it is closed. -#}
{%- macro alert_outcome() -%}
    multiIf(
        last_change = 'close', if(last_verdict = '', 'closed', toString(last_verdict)),
        silenced, 'suppressed', last_change = 'ack', 'acknowledged', 'open')
{%- endmacro -%}
{#- The account and the client that an alert is about; empty if it is about neither. An alert whose entity names an actor is about
    this actor only: an alert of password spraying is about a client, and its user is one of many. -#}
{%- macro alert_account() -%}
    if(mapContains(entity, 'user') OR NOT hasAny(mapKeys(entity), ['src_ip', 'host', 'program', 'os_user']),
        toString(user), '')
{%- endmacro -%}
{%- macro alert_client() -%}
    multiIf(
        mapContains(entity, 'src_ip'), toString(src_ip),
        mapContains(entity, 'host'), entity['host'],
        hasAny(mapKeys(entity), ['user', 'program', 'os_user']), '',
        toString(src_ip))
{%- endmacro -%}
{#- What a person did with an alert, in words. -#}
{%- macro action_in_words() -%}
    multiIf(
            action = 'ack', 'acknowledged',
            action = 'assign', concat('assigned to ', assignee),
            action = 'close' AND verdict != '', concat('closed as ', verdict),
            action = 'close', 'closed',
            action = 'reopen', 'reopened',
            'commented')
{%- endmacro -%}
