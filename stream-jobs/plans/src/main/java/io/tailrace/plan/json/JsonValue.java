package io.tailrace.plan.json;

import io.tailrace.json.AvroJsonWriter;
import java.util.List;

/** What a document holds. Members keep their order, and both of two with the same name. */
public sealed interface JsonValue {

    /** What stands for a value that was not read, and for JSON's own null. */
    JsonValue NULL = new JsonNull();

    /** Appends it as strict JSON. */
    void appendTo(StringBuilder out);

    /** The text of a string, number or word; empty for all else. */
    default String text() {
        return "";
    }

    /** The number that is written here, in a string too, as MySQL's costs are; NaN where none is. */
    default double number() {
        return Double.NaN;
    }

    /** True for {@code true} and for 1, as MariaDB writes it. */
    default boolean isTrue() {
        return false;
    }

    /**
     * One member of an object.
     *
     * @param name as it stands there, decoded
     * @param value what it holds
     */
    record Member(String name, JsonValue value) {}

    /** Members in the order of the document. */
    record JsonObject(List<Member> members) implements JsonValue {

        /** The first member of a name; {@link #NULL} where none has it. */
        public JsonValue get(String name) {
            for (Member member : members) {
                if (member.name().equals(name)) {
                    return member.value();
                }
            }
            return NULL;
        }

        public boolean has(String name) {
            return members.stream().anyMatch(member -> member.name().equals(name));
        }

        @Override
        public void appendTo(StringBuilder out) {
            char separator = '{';
            for (Member member : members) {
                out.append(separator);
                AvroJsonWriter.quote(member.name(), out);
                out.append(':');
                member.value().appendTo(out);
                separator = ',';
            }
            out.append(members.isEmpty() ? "{}" : "}");
        }
    }

    /** Values in the order of the document. */
    record JsonArray(List<JsonValue> values) implements JsonValue {

        @Override
        public void appendTo(StringBuilder out) {
            char separator = '[';
            for (JsonValue value : values) {
                out.append(separator);
                value.appendTo(out);
                separator = ',';
            }
            out.append(values.isEmpty() ? "[]" : "]");
        }
    }

    /**
     * A string.
     *
     * @param text decoded
     * @param written the characters between the quotes as they stand there: MariaDB writes some of them without escaping
     *     them, so that only these are what the server said
     */
    record JsonString(String text, String written) implements JsonValue {

        @Override
        public double number() {
            return JsonNumber.parse(text);
        }

        @Override
        public void appendTo(StringBuilder out) {
            AvroJsonWriter.quote(text, out);
        }
    }

    /** A number, as it is written: {@code 1e400} stays what it is. */
    record JsonNumber(String text) implements JsonValue {

        @Override
        public double number() {
            return parse(text);
        }

        @Override
        public boolean isTrue() {
            return number() == 1;
        }

        @Override
        public void appendTo(StringBuilder out) {
            out.append(text);
        }

        private static final int MAX_LENGTH = 64;

        private static double parse(String text) {
            boolean numeric =
                    !text.isEmpty() && text.length() <= MAX_LENGTH && "-0123456789".indexOf(text.charAt(0)) >= 0;
            try {
                return numeric ? Double.parseDouble(text) : Double.NaN;
            } catch (NumberFormatException e) {
                return Double.NaN;
            }
        }
    }

    /** No value. */
    record JsonNull() implements JsonValue {

        @Override
        public void appendTo(StringBuilder out) {
            out.append("null");
        }
    }

    /** {@code true} or {@code false}. */
    record JsonWord(String text) implements JsonValue {

        @Override
        public boolean isTrue() {
            return "true".equals(text);
        }

        @Override
        public void appendTo(StringBuilder out) {
            out.append(text);
        }
    }
}
