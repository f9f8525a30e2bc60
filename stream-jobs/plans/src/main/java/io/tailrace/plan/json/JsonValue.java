package io.tailrace.plan.json;

import io.tailrace.json.AvroJsonWriter;
import java.util.List;

/** A value of a document. Members keep their order, and duplicate names are kept. */
public sealed interface JsonValue {

    /** Represents JSON's null, and a value that was not read. */
    JsonValue NULL = new JsonNull();

    /** Appends the value as strict JSON. */
    void appendTo(StringBuilder out);

    /** Returns the text of a string, number or word; empty for any other value. */
    default String text() {
        return "";
    }

    /** Returns the number, also of a string, such as MySQL's costs; NaN if there is none. */
    default double number() {
        return Double.NaN;
    }

    /** Returns true for {@code true} and for 1, which MariaDB writes. */
    default boolean isTrue() {
        return false;
    }

    /**
     * One member of an object.
     *
     * @param name decoded name
     * @param value its value
     */
    record Member(String name, JsonValue value) {}

    /** Members in the order of the document. */
    record JsonObject(List<Member> members) implements JsonValue {

        /** Returns the first member with a name; {@link #NULL} if there is none. */
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
     * @param text decoded text
     * @param written the characters between the quotes, not decoded: MariaDB does not escape some texts, so that only
     *     these characters are what the server wrote
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

    /** A number in its original notation: {@code 1e400} is not changed. */
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
