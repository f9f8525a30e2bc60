package io.tailrace.cli.output;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Converts JSON objects to records of CSV (RFC 4180). Lists and objects are JSON in one field, null and a missing value are
 * empty fields.
 */
public final class CsvRecords {

    private static final String END = "\r\n";

    private final ObjectMapper mapper = new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
    private final Set<String> keys = new LinkedHashSet<>();

    /** Returns the header and a record for each element of the list with this name in a JSON object. */
    public String ofList(String json, String name) {
        return table(parse(json).get(name));
    }

    /** Returns the header and the records of JSON objects, which may have different keys. */
    public String ofAll(List<String> objects) {
        return table(objects.stream().map(this::parse).toList());
    }

    private String table(Iterable<JsonNode> rows) {
        rows.forEach(row -> row.fieldNames().forEachRemaining(keys::add));
        StringBuilder out = new StringBuilder(keys.isEmpty() ? "" : record(new ArrayList<>(keys)));
        rows.forEach(row -> out.append(record(row)));
        return out.toString();
    }

    /**
     * Returns the record of a JSON object, after the header if it is the first one.
     *
     * @throws IllegalArgumentException if it has a key that the first one does not have
     */
    public String of(String json) {
        JsonNode row = parse(json);
        List<String> its = new ArrayList<>();
        row.fieldNames().forEachRemaining(its::add);
        String header = "";
        if (keys.isEmpty()) {
            keys.addAll(its);
            header = record(its);
        }
        if (!keys.containsAll(its)) {
            its.removeAll(keys);
            throw new IllegalArgumentException("the first record has no " + String.join(", ", its));
        }
        return header + record(row);
    }

    private JsonNode parse(String json) {
        try {
            return mapper.readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private String record(JsonNode row) {
        return record(keys.stream().map(key -> text(row.get(key))).toList());
    }

    private static String text(JsonNode value) {
        if (value == null || value.isNull()) {
            return "";
        }
        if (value.isBigDecimal()) {
            return value.decimalValue().toPlainString();
        }
        return value.isValueNode() ? value.asText() : value.toString();
    }

    /** Returns a record with its end. */
    public static String record(List<String> values) {
        return values.stream().map(CsvRecords::field).collect(Collectors.joining(",", "", END));
    }

    private static String field(String value) {
        boolean plain = value.chars().noneMatch(sign -> sign == ',' || sign == '"' || sign == '\r' || sign == '\n');
        return plain ? value : '"' + value.replace("\"", "\"\"") + '"';
    }
}
