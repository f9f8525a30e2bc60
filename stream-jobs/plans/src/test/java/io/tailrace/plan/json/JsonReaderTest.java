package io.tailrace.plan.json;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.tailrace.plan.json.JsonValue.JsonObject;
import io.tailrace.testing.GrowthRate;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class JsonReaderTest {

    private final JsonReader reader = new JsonReader();

    private JsonDocument read(String text) {
        return read(text.getBytes(StandardCharsets.UTF_8));
    }

    private JsonDocument read(byte[] bytes) {
        return reader.read(bytes, 0, bytes.length);
    }

    private static String json(JsonDocument document) {
        StringBuilder out = new StringBuilder();
        document.value().appendTo(out);
        return out.toString();
    }

    private void assertRepaired(String text, String expected, RepairKind kind, int count) {
        JsonDocument document = read(text);
        assertThat(json(document)).isEqualTo(expected);
        assertThat(document.repairs().counts()).containsOnlyKeys(kind).containsEntry(kind, count);
    }

    @Test
    void readsStrictJsonAsOthersDo() throws Exception {
        String text =
                """
                {"b": 1, "a": [true, false, null, -1.5e+3, 0, "x\\u00e9\\n\\"\\\\\\/"], "b": {}, "c": [], "": {"d": [[]]}}
                """;
        JsonDocument document = read(text);
        assertThat(document.repairs().isEmpty()).isTrue();
        assertThat(new ObjectMapper().readTree(json(document))).isEqualTo(new ObjectMapper().readTree(text));
        assertThat(json(document)).startsWith("{\"b\":1,\"a\":").contains("\"b\":{}");
    }

    @Test
    void numbersStayAsTheyAreWritten() {
        assertThat(json(read("{\"a\":1e400,\"b\":0.10,\"c\":12345678901234567890}")))
                .isEqualTo("{\"a\":1e400,\"b\":0.10,\"c\":12345678901234567890}");
    }

    @Test
    void endMarkersAreComments() {
        assertRepaired(
                "{\"a\": {\"b\": 1} /* a */, \"c\": [2] /* c */ }",
                "{\"a\":{\"b\":1},\"c\":[2]}",
                RepairKind.COMMENT,
                2);
    }

    @Test
    void quotesWithinAConditionsLiteralDoNotEndIt() {
        String text = "{\"attached_condition\": \"t.a = 'say \"x\", \"y\": 1}'\", \"rows\": 2}";
        JsonObject object = (JsonObject) read(text).value();
        assertThat(object.get("attached_condition").text()).isEqualTo("t.a = 'say \"x\", \"y\": 1}'");
        assertThat(object.get("rows").number()).isEqualTo(2);
    }

    @Test
    void quotesWithinOtherTextsDoNotEndThem() {
        assertRepaired(
                "{\"message\": \"a \"b\" c\", \"d\": 1}",
                "{\"message\":\"a \\\"b\\\" c\",\"d\":1}",
                RepairKind.UNESCAPED_QUOTE,
                2);
    }

    @Test
    void unknownEscapesStay() {
        assertRepaired("{\"a\": \"'\\xDF'\"}", "{\"a\":\"'\\\\xDF'\"}", RepairKind.INVALID_ESCAPE, 1);
    }

    @Test
    void controlCharactersStay() {
        assertRepaired("{\"a\": \"x\u0001\ty\"}", "{\"a\":\"x\\u0001\\ty\"}", RepairKind.CONTROL_CHARACTER, 2);
    }

    @Test
    void bytesThatAreNotUtf8AreReplaced() {
        JsonDocument document = read(new byte[] {'{', '"', 'a', '"', ':', '"', (byte) 0xff, '"', '}'});
        assertThat(json(document)).isEqualTo("{\"a\":\"\ufffd\"}");
        assertThat(document.repairs().count(RepairKind.INVALID_UTF8)).isEqualTo(1);
    }

    @Test
    void bareWordsAreTexts() {
        assertRepaired("{\"a\": REPLACED, \"b\": 1}", "{\"a\":\"REPLACED\",\"b\":1}", RepairKind.BARE_WORD, 1);
    }

    @Test
    void truncatedDocumentsAreReadToTheirEnd() {
        assertRepaired("{\"a\": {\"b\": [1, 2", "{\"a\":{\"b\":[1,2]}}", RepairKind.TRUNCATED, 1);
        assertRepaired("{\"a\": \"x", "{\"a\":\"x\"}", RepairKind.TRUNCATED, 1);
        assertRepaired("{\"a\":", "{\"a\":null}", RepairKind.TRUNCATED, 1);
    }

    @Test
    void missingPunctuationIsRepaired() {
        assertRepaired("{\"a\" 1, \"b\": [1}, \"c\": 2}", "{\"a\":1,\"b\":[1]}", RepairKind.PUNCTUATION, 2);
    }

    @Test
    void aRepairHasAKindAndAPosition() {
        Repair repair =
                read("{\"a\": [0, {\"b\": \"\\x\"}]}").repairs().places().get(0);
        assertThat(repair).isEqualTo(new Repair(RepairKind.INVALID_ESCAPE, 17, "$.a[1].b"));
    }

    @Test
    void theDocumentEndsWithItsBracket() {
        byte[] text = "{\"a\": 1} tail".getBytes(StandardCharsets.UTF_8);
        assertThat(reader.read(text, 0, text.length).to()).isEqualTo(8);
    }

    @Test
    void deepNestingTakesNoStackAndIsCutWithAReport() {
        int levels = 300_000;
        JsonDocument document = read("{\"a\":".repeat(levels) + "1" + "}".repeat(levels));
        assertThat(document.repairs().count(RepairKind.TOO_DEEP)).isEqualTo(1);
        assertThat(document.to()).isEqualTo(levels * 6 + 1);
    }

    /** Each of these makes a reader quadratic that looks ahead without a limit. */
    @Test
    void longTextsAreReadInLinearTime() {
        for (String piece : new String[] {
            "{\"a\":",
            "[",
            "{\"a_condition\":\"'",
            "\"",
            "\\",
            "/*",
            "{\"a\" ",
            "}",
            "]",
            "{\"x\":\"\" \" \" ",
            "\"a\", ",
            "{\"a\":\"'\n\",",
            "{\"a_condition\":\"`\","
        }) {
            GrowthRate.assertLinear(piece, 16 << 10, 512 << 10, size -> {
                String text = "{\"a\": [" + piece.repeat(size / piece.length());
                return () -> read(text);
            });
        }
    }
}
