package io.tailrace.plan.reader;

import io.tailrace.plan.json.JsonValue;
import io.tailrace.plan.json.JsonValue.JsonArray;
import io.tailrace.plan.json.JsonValue.JsonObject;
import java.util.List;

/** Reads values that versions write in different forms. */
final class MemberValues {

    private MemberValues() {}

    /** Returns a list of names; a single name is a list of one. */
    static List<String> names(JsonValue value) {
        if (value instanceof JsonArray array) {
            return array.values().stream().map(JsonValue::text).toList();
        }
        return value.text().isEmpty() ? List.of() : List.of(value.text());
    }

    /** Returns the objects of a list; a single object is a list of one. */
    static List<JsonObject> objects(JsonValue value) {
        if (value instanceof JsonArray array) {
            return array.values().stream()
                    .filter(JsonObject.class::isInstance)
                    .map(JsonObject.class::cast)
                    .toList();
        }
        return value instanceof JsonObject object ? List.of(object) : List.of();
    }

    /**
     * Returns true for {@code true}, or for a text that other versions write instead, such as the table of {@code
     * first_match}.
     */
    static boolean holds(JsonValue value) {
        return value.isTrue()
                || value instanceof JsonValue.JsonString string
                        && !string.text().isEmpty();
    }

    /** Returns a whole number that is not negative; 0 if there is none. */
    static int count(JsonValue value) {
        double number = value.number();
        return number >= 0 && number <= Integer.MAX_VALUE ? (int) number : 0;
    }
}
