{#- What the rows of all tables are made of. `number` is a row's place among the rows, which are in the order of time. -#}
{%- set servers = "['shop-1','shop-2','shop-3','shop-4','billing-1','billing-2','billing-3','crm-1','crm-2','crm-3','dwh-1','dwh-2']" -%}
{%- set databases = "['shop','shop','carts','billing','billing','crm','warehouse','reports']" -%}
{%- set users = "['web','web','checkout','billing','support','cron','reporting','batch','ann','bob','carol','dave']" -%}
{%- set tables = "[concat(database, '.t', toString(statement % 30))]" -%}
{%- set routes = "['/orders','/orders/{id}','/cart','/search','/invoices','/customers/{id}','/reports','/login']" -%}
{%- set cluster = "splitByChar('-', instance)[1]" -%}
{%- set query_id = "cityHash64('statement', statement)" -%}
{#- Between 0 and 1, the same for the same row. -#}
{%- macro random(salt) -%} (cityHash64(number, {{ salt }}) % 1000003 / 1000003.) {%- endmacro -%}
{%- macro normal(salt) -%} (sqrt(-2 * log(1 - {{ random(salt) }})) * cos(2 * pi() * {{ random(salt + 1) }})) {%- endmacro -%}
{%- macro one_of(names, salt) -%} {{ names }}[1 + cityHash64(number, {{ salt }}) % length({{ names }})] {%- endmacro -%}
{#- Few statements are most of the entries. -#}
{%- set statement = "toUInt64(floor(" ~ statements ~ " * pow(" ~ random(1) ~ ", 3)))" -%}
{#- The hour of the day bends the even flow of rows: more fall on the day than on the night. -#}
{%- set even = "(" ~ end ~ " - " ~ days * 86400 ~ " + number / " ~ rows ~ " * " ~ days * 86400 ~ ")" -%}
{%- set time = "toDateTime64(" ~ even ~ " + 5000 * sin(2 * pi() * (" ~ even ~ " % 86400) / 86400) - 5000, 6, 'UTC')" -%}
