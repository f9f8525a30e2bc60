package io.tailrace.plan.reader;

import io.tailrace.plan.AccessType;
import io.tailrace.plan.json.JsonValue;
import io.tailrace.plan.json.JsonValue.JsonArray;
import io.tailrace.plan.json.JsonValue.JsonObject;
import io.tailrace.plan.json.JsonValue.JsonString;
import io.tailrace.plan.json.JsonValue.JsonWord;
import io.tailrace.plan.json.JsonValue.Member;

/**
 * Removes from a document everything that may be the rest of a literal, including the names of tables and indexes,
 * because a literal may contain any text. Its structure, true and false, and the servers' names of access types
 * remain. Names of members remain, too; the readers check whether servers write them.
 */
final class DocumentMask {

    private static final JsonValue UNKNOWN = new JsonString("?", "?");

    private DocumentMask() {}

    static JsonObject of(JsonObject object) {
        return new JsonObject(object.members().stream()
                .map(member -> new Member(member.name(), of(member.value())))
                .toList());
    }

    private static JsonValue of(JsonValue value) {
        if (value instanceof JsonObject object) {
            return of(object);
        }
        if (value instanceof JsonArray array) {
            return new JsonArray(array.values().stream().map(DocumentMask::of).toList());
        }
        if (value instanceof JsonString string) {
            return string.text().isEmpty() || isOfServer(string.text()) ? string : UNKNOWN;
        }
        boolean isBoolean =
                value instanceof JsonWord word && (word.isTrue() || word.text().equals("false"));
        return isBoolean ? value : JsonValue.NULL;
    }

    private static boolean isOfServer(String word) {
        return AccessType.named(word) != AccessType.UNKNOWN || IteratorPlanReader.namesStep(word);
    }
}
