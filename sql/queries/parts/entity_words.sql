{#- The entity of an alert in words, as pages write it (tailrace.alerts.entity_key.in_words): `user app, client 10.0.0.9`. A key
    with a quote has unusual characters, which only the key shows. -#}
{%- macro entity_in_words(entity, key) -%}
    if(position({{ key }}, '"') > 0, {{ key }}, arrayStringConcat(
        arrayMap(
            (name, value) -> concat(
                transform(name, ['src_ip', 'host', 'query_id', 'instance'], ['client', 'client', 'query', 'server'], name),
                ' ', if(name = 'query_id', upper(value), value)),
            mapKeys(if(empty(mapFilter((name, value) -> name NOT IN ('cluster', 'instance'), {{ entity }}) AS actors), {{ entity }}, actors) AS named),
            mapValues(named)),
        ', '))
{%- endmacro -%}
