{#- Whether a message of an error log is one of InnoDB, apart from its monitor. The report of a deadlock is a message of its own. -#}
{%- macro is_innodb_message() -%}
    (NOT (kind = 'deadlock' AND message ILIKE '%aborted due to deadlock%')
        AND (kind IN ('innodb_pressure', 'deadlock', 'corruption')
            OR kind = 'other' AND subsystem = 'InnoDB' AND lower(level) IN ('warning', 'error')))
{%- endmacro -%}
