from charts import *
S=["","max_threads=1","compile_expressions=0","compile_aggregate_expressions=0, compile_expressions=0, compile_sort_description=0","optimize_use_projections=0","use_query_condition_cache=0","query_plan_optimize_join_order_limit=0","optimize_rewrite_like_perfect_affix=0","enable_parallel_replicas=0", "query_plan_join_swap_table='false'","optimize_respect_aliases=0","max_streams_to_max_threads_ratio=0.5","use_skip_indexes_on_data_read=0", "query_plan_use_new_logical_join_step=0","allow_experimental_analyzer=0","enable_join_runtime_filters=0","use_statistics=0"]
for c,d in (("session_records",1),("privileged_list",7),("logins_first_seen",1)):
    sql=ask(c,d)
    for s in S:
        x=' SETTINGS '+s if s else ''
        try:
            a=min(cost(sql+x+' FORMAT Null') for _ in range(2)); p=min(cost('EXPLAIN '+sql+x) for _ in range(2)); t=min(cost('EXPLAIN QUERY TREE '+sql+x) for _ in range(1))
            print(f"{c:20} {s:50} cpu {a[0]:.3f} wall {a[1]:.2f} plan {p[0]:.3f} tree {t[0]:.3f}",flush=True)
        except Exception as e: print(c,s,str(e)[:100])
