from charts import *
import time
head=lambda body: jinja2 and None
def part(body,**f):
    text=dashboards._with_parts('{%- include "parts/range.sql" -%}\n{%- include "parts/session.sql" -%}\n'+body, dashboards.QUERIES)
    env=jinja2.Environment(); env.filters['where_in']=lambda vs:'('+', '.join("'"+x+"'" for x in vs)+')'
    return env.from_string(text).render(from_dttm=since(1),to_dttm=END,filter_values=lambda c,**_:f.get(c,[]),get_time_filter=Shown,columns=[],filter=[],table_columns=[])
Q={"connections1":"WITH {{shown_range(1)}}, {{alerted()}}, {{connections_to_look_at(1)}} SELECT connections",
"alerted_records":"WITH {{shown_range(1)}}, {{alerted()}} SELECT count() FROM alerted_records",
"qe":"WITH {{shown_range(1)}} SELECT instance, connection_id, 0, max(event_time) FROM tailrace.query_events WHERE event_time >= range_start AND event_time < range_end AND connection_id != 0 GROUP BY instance, connection_id ORDER BY max(event_time) DESC LIMIT 1",
"qe_plain":"SELECT instance, connection_id, 0, max(event_time) FROM tailrace.query_events WHERE event_time >= '2026-11-21 16:07:00' AND event_time < '2026-11-22 16:07:00' AND connection_id != 0 GROUP BY instance, connection_id ORDER BY max(event_time) DESC LIMIT 1",
"records1":"WITH {{shown_range(1)}}, {{session_records(\"[('db-01',toUInt64(7))]\")}} SELECT count(), max(session) FROM sessions_numbered",
"records1_all":"WITH {{shown_range(1)}}, {{session_records(\"[('db-01',toUInt64(7))]\")}} SELECT * FROM sessions_numbered",
"one":"SELECT 1",
}
for n,b in Q.items():
    s=part(b); c=min(cost(s+' FORMAT Null') for _ in range(3)); p=min(cost('EXPLAIN '+s) for _ in range(3)); t=min(cost('EXPLAIN QUERY TREE '+s) for _ in range(3))
    print(n,"cpu %.3f wall %.2f rows %d"%c, "plan %.3f tree %.3f"%(p[0],t[0]),flush=True)
for ds in ("session_events","session_alerts","sessions"):
    s=render(ds,1); t=min(cost('EXPLAIN SYNTAX oneline=1 '+s) for _ in range(2)); print(ds,'syntax',t)
    c=min(cost(f"SELECT count() FROM ({s}) FORMAT Null") for _ in range(2)); print(ds,c)
    s=render(ds,1,instance=['db-01'],connection_id=['7']); c=min(cost(f"SELECT * FROM ({s}) FORMAT Null") for _ in range(2));t=min(cost('EXPLAIN QUERY TREE '+s) for _ in range(2)); print(ds,'given',c,t)
