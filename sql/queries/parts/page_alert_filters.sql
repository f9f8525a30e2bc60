            ({level:String} = '' OR level = {level:String}
                OR ({level:String} = 'medium or lower' AND level NOT IN ('critical', 'high')))
            AND ({cluster:String} = '' OR cluster = {cluster:String}
                OR has(splitByChar(',', {cluster:String}), cluster))
            AND ({instance:String} = '' OR instance = {instance:String}
                OR has(splitByChar(',', {instance:String}), instance))
            AND (
                {rule:String} = ''
                OR rule_id = {rule:String}
                OR positionCaseInsensitiveUTF8(rule_title, {rule:String}) > 0)
            AND (
                {field:String} = ''
                OR lowerUTF8({value:String}) IN (
                    lowerUTF8(entity[{field:String}]),
                    lowerUTF8(multiIf(
                        {field:String} = 'cluster', cluster, {field:String} = 'instance', instance,
                        {field:String} = 'user', user, {field:String} = 'src_ip', src_ip,
                        {field:String} = 'database', database, {field:String} = 'program', program, ''))))
