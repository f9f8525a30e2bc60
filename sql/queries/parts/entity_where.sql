            AND ({cluster:String} = '' OR cluster = {cluster:String})
            AND ({instance:String} = '' OR instance = {instance:String})
            AND (
                {kind:String} = 'user' AND user = {name:String}
                OR {kind:String} = 'client' AND (
                    ip = {name:String} OR ip = '' AND host = {name:String}
                    OR toIPv6OrDefault({name:String}) != toIPv6('::')
                        AND (toIPv6OrDefault(ip) = toIPv6OrDefault({name:String})
                            OR ip = '' AND toIPv6OrDefault(host) = toIPv6OrDefault({name:String})))
                OR {kind:String} = 'table' AND (has(tables_read, {name:String}) OR has(tables_written, {name:String}))
                OR {kind:String} = 'session' AND connection_id = {connection:UInt64})
