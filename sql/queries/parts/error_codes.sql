{#- The meaning of the error codes for refused access and other problems; '' for other codes. -#}
{%- macro error_meaning(code) -%}
    transform(toString({{ code }}),
        ['1044', '1045', '1142', '1143', '1227', '1370', '1698', '1862', '3118', '3955', '4151',
            '1064', '1146', '1054', '1062', '1205', '1213', '1317', '1969', '3024',
            'MY-010926', 'MY-010927'],
        ['no right to the database', 'wrong password, or no such account', 'no right to the table', 'no right to the column',
            'lacks an administrative privilege', 'no right to the routine', 'account may not log in this way',
            'password has expired', 'account is locked', 'account is locked after failures', 'account is blocked',
            'syntax error', 'no such table', 'no such column', 'duplicate key', 'lock wait timeout', 'deadlock', 'killed',
            'statement timeout', 'statement timeout',
            'wrong password, or no such account', 'wrong password, or no such account'],
        '')
{%- endmacro -%}
{%- macro error_text(code) -%}
    if(toString({{ code }}) IN ('', '0'), '',
        concat(toString({{ code }}), if({{ error_meaning(code) }} = '', '', concat(': ', {{ error_meaning(code) }}))))
{%- endmacro -%}
