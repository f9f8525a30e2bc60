package io.tailrace.plan;

import io.tailrace.plan.json.JsonValue;
import io.tailrace.plan.json.JsonValue.JsonArray;
import io.tailrace.plan.json.JsonValue.JsonObject;
import io.tailrace.plan.json.JsonValue.Member;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A merge of several indexes of one table: {@code union(ka,kb)} in MySQL's notation; MariaDB writes a tree. */
public final class IndexMerge {

    private IndexMerge() {}

    /** Converts MariaDB's {@code index_merge} to MySQL's notation. */
    public static String text(JsonValue value) {
        if (value instanceof JsonArray array) {
            return array.values().stream().map(IndexMerge::text).collect(Collectors.joining(","));
        }
        if (!(value instanceof JsonObject object)) {
            return "";
        }
        return object.members().stream().map(IndexMerge::member).collect(Collectors.joining(","));
    }

    private static String member(Member member) {
        if (member.name().equals("range")) {
            return member.value() instanceof JsonObject range ? range.get("key").text() : "";
        }
        return member.name() + '(' + text(member.value()) + ')';
    }

    /** Returns the names of the indexes in {@code union(ka,intersect(kb,kc))} in their order. */
    public static List<String> indexes(String text) {
        List<String> indexes = new ArrayList<>();
        for (String piece : text.split(",")) {
            String name =
                    piece.substring(piece.lastIndexOf('(') + 1).replace(")", "").strip();
            if (!name.isEmpty()) {
                indexes.add(name);
            }
        }
        return indexes;
    }
}
