package io.tailrace.plan.reader;

import io.tailrace.plan.PlanFormat;
import io.tailrace.plan.json.JsonValue;
import io.tailrace.plan.json.JsonValue.JsonArray;
import io.tailrace.plan.json.JsonValue.JsonObject;
import io.tailrace.plan.json.JsonValue.Member;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;

/** Distinguishes MySQL's version 1 from MariaDB's formats by names that only one of them has. */
final class BlockFormat {

    private static final Set<String> OF_MYSQL = Set.of(
            "cost_info",
            "rows_examined_per_scan",
            "using_filesort",
            "using_temporary_table",
            "used_columns",
            "select_list_subqueries",
            "ordering_operation",
            "grouping_operation",
            "attached_subqueries",
            "optimized_away_subqueries");
    private static final Set<String> OF_MARIADB = Set.of(
            "filesort",
            "temporary_table",
            "block-nl-join",
            "materialized",
            "subqueries",
            "having_condition",
            "const_condition",
            "cost",
            "loops",
            "read_sorted_file",
            "operation",
            "outer_ref_condition",
            "index_merge",
            "mrr_type",
            "rowid_filter");

    private BlockFormat() {}

    static PlanFormat of(JsonObject document) {
        PlanFormat certain = null;
        PlanFormat likely = null;
        Deque<JsonValue> open = new ArrayDeque<>();
        open.push(document);
        while (!open.isEmpty()) {
            for (Member member : members(open.pop())) {
                if (isMeasured(member.name())) {
                    return PlanFormat.MARIADB_ANALYZE;
                }
                certain = certain == null ? certain(member) : certain;
                likely = likely == null ? likely(member) : likely;
                open.push(member.value());
            }
        }
        PlanFormat guess = likely == null ? PlanFormat.MYSQL_1 : likely;
        return certain == null ? guess : certain;
    }

    private static List<Member> members(JsonValue value) {
        if (value instanceof JsonArray array) {
            return array.values().stream().map(item -> new Member("", item)).toList();
        }
        return value instanceof JsonObject object ? object.members() : List.of();
    }

    private static boolean isMeasured(String name) {
        return name.equals("r_loops") || name.equals("r_rows") || name.equals("r_total_time_ms");
    }

    private static PlanFormat certain(Member member) {
        if (OF_MYSQL.contains(member.name())) {
            return PlanFormat.MYSQL_1;
        }
        return OF_MARIADB.contains(member.name()) ? PlanFormat.MARIADB : null;
    }

    /** Returns the probable format. MySQL 5.6 also writes {@code rows}, but quotes every name in a condition. */
    private static PlanFormat likely(Member member) {
        if (member.name().equals("attached_condition")) {
            return member.value().text().startsWith("(`") ? PlanFormat.MYSQL_1 : PlanFormat.MARIADB;
        }
        return member.name().equals("key_length") ? PlanFormat.MARIADB : null;
    }
}
