{#- Where one statement ran (`ran`), and its tables with their databases (`wanted`), for a WITH. A name without a database is of the
    default database of its connection. Takes the parameters from, to, query_ids, names, cluster and instance. #}
    ran AS (
        SELECT DISTINCT cluster, instance, lower(database) AS schema_name
        FROM tailrace.query_classes_1h
        WHERE query_id IN {query_ids:Array(UInt64)}
            AND hour >= toStartOfHour({from:DateTime('UTC')}) AND hour < {to:DateTime('UTC')}
            AND ({cluster:String} = '' OR cluster = {cluster:String})
            AND ({instance:String} = '' OR instance = {instance:String})),
    (
        SELECT groupUniqArrayArray(arrayMap(
            name -> if(position(name, '.') > 0, name, concat(schema_name, '.', name)), {names:Array(String)}))
        FROM ran
    ) AS wanted,
