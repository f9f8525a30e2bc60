{#- The entity of an alert in words, as pages write it (tailrace.alerts.entity_key.in_words): `user app, client 10.0.0.9`, the
    user first. A key with a quote has unusual characters, which only the key shows. -#}
{%- macro entity_in_words(entity, key) -%}
    if(position({{ key }}, '"') > 0, {{ key }}, arrayStringConcat(
        arrayMap(
            each -> concat(
                transform(each.1, ['src_ip', 'host', 'query_id', 'instance'], ['client', 'client', 'query', 'server'], each.1),
                ' ', if(each.1 = 'query_id', upper(each.2), each.2)),
            arrayConcat(
                arrayFilter(each -> each.1 = 'user', arrayZip(
                    mapKeys(if(empty(mapFilter((name, value) -> name NOT IN ('cluster', 'instance'), {{ entity }}) AS actors), {{ entity }}, actors) AS named),
                    mapValues(named)) AS pairs),
                arrayFilter(each -> each.1 != 'user', pairs))),
        ', '))
{%- endmacro -%}
