package io.tailrace.plan;

import io.tailrace.plan.json.JsonValue;
import io.tailrace.plan.json.JsonValue.JsonArray;
import io.tailrace.plan.json.JsonValue.JsonObject;
import java.util.List;

/** What a member says, in whichever of several ways a version writes it. */
final class MemberValues {

    private MemberValues() {}

    /** A list of names; one name alone is a list of one. */
    static List<String> names(JsonValue value) {
        if (value instanceof JsonArray array) {
            return array.values().stream().map(JsonValue::text).toList();
        }
        return value.text().isEmpty() ? List.of() : List.of(value.text());
    }

    /** The objects of a list; one alone is a list of one. */
    static List<JsonObject> objects(JsonValue value) {
        if (value instanceof JsonArray array) {
            return array.values().stream()
                    .filter(JsonObject.class::isInstance)
                    .map(JsonObject.class::cast)
                    .toList();
        }
        return value instanceof JsonObject object ? List.of(object) : List.of();
    }

    /** {@code true}, or a text where other versions write true, such as the table of {@code first_match}. */
    static boolean holds(JsonValue value) {
        return value.isTrue()
                || value instanceof JsonValue.JsonString string
                        && !string.text().isEmpty();
    }

    /** A whole number that is not negative; 0 where none is written. */
    static int count(JsonValue value) {
        double number = value.number();
        return number >= 0 && number <= Integer.MAX_VALUE ? (int) number : 0;
    }
}
