{#- Short meanings of the error codes (error references of MySQL and MariaDB; codes from 1900 on differ between them).
    Percona Server logs the last condition of a statement, which may be a note: then the statement did not fail. -#}
{%- set failures = {
    1005: 'table cannot be made', 1006: 'database cannot be made', 1007: 'database exists already',
    1008: 'no such database', 1021: 'disk full', 1022: 'duplicate key', 1040: 'too many connections',
    1041: 'out of memory', 1044: 'no access to the database', 1045: 'access denied', 1046: 'no database selected',
    1048: 'column cannot be null', 1049: 'no such database', 1050: 'table exists already', 1051: 'no such table',
    1052: 'column is ambiguous', 1054: 'no such column', 1062: 'duplicate entry', 1064: 'syntax error',
    1091: 'no such key or column to drop', 1114: 'table is full', 1136: 'number of values differs from columns',
    1142: 'no right on the table', 1143: 'no right on the column', 1146: 'no such table', 1152: 'connection aborted',
    1153: 'packet too large', 1158: 'error reading packets', 1159: 'timeout reading packets',
    1160: 'error writing packets', 1161: 'timeout writing packets', 1180: 'error at commit',
    1205: 'lock wait timeout', 1206: 'lock table full', 1213: 'deadlock', 1216: 'foreign key: no parent row',
    1217: 'foreign key: child rows exist', 1227: 'missing privilege', 1264: 'value out of range',
    1265: 'value truncated', 1290: 'server runs with an option that forbids it', 1292: 'incorrect value',
    1305: 'no such routine', 1317: 'interrupted (KILL)', 1364: 'column has no default',
    1366: 'incorrect value for the column', 1406: 'value too long', 1451: 'foreign key: child rows exist',
    1452: 'foreign key: no parent row', 1637: 'too many open transactions', 1644: 'signalled by the application',
    1690: 'number out of range', 1792: 'read-only transaction', 1836: 'server is read-only',
    1927: 'connection was killed', 1969: 'max_statement_time exceeded', 2006: 'server has gone away',
    2013: 'lost connection', 3024: 'max_execution_time exceeded', 3100: 'refused by a replication plugin',
    3101: 'group replication: rolled back', 3572: 'lock not available (NOWAIT)', 3819: 'check constraint violated',
    4025: 'constraint violated', 3169: 'session was killed', 1047: 'node is not ready (wsrep)'} -%}
{%- set notes = {
    1003: 'note: the statement as rewritten (EXPLAIN)', 1285: 'warning: host names have no effect',
    1287: 'note: deprecated syntax', 1544: 'warning: time of the event is past', 1592: 'note: unsafe for the binary log',
    1612: 'warning: a log to purge is missing', 1618: 'warning: an option is ignored',
    1620: 'warning: the plugin is removed at shutdown', 1681: 'note: deprecated',
    1759: 'note: password sent without TLS', 1760: 'note: password stored in plain text',
    1867: 'warning: a log to purge is in use', 1868: 'warning: the active log is not purged',
    1831: 'note: duplicate index', 3090: 'note: sql_mode changes are deprecated',
    3135: 'note: sql_mode changes are deprecated', 3719: 'note: utf8 is an alias',
    3778: 'note: deprecated collation'} -%}
{%- macro meaning(code) -%}
    transform(toInt32({{ code }}), {{ (failures.keys() | list) + (notes.keys() | list) }},
        {{ (failures.values() | list) + (notes.values() | list) }}, 'see the reference')
{%- endmacro -%}
