package io.tailrace.detection.sigma.search;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The modifiers that may follow the name of a field: Sigma's specification, appendix "Modifiers", version 2.1. */
enum Modifier {
    ALL("all"),
    NEQ("neq"),
    CASED("cased"),
    CONTAINS("contains"),
    STARTSWITH("startswith"),
    ENDSWITH("endswith"),
    WINDASH("windash"),
    BASE64("base64"),
    BASE64OFFSET("base64offset"),
    WIDE("wide", "utf16le"),
    UTF16BE("utf16be"),
    UTF16("utf16"),
    EXPAND("expand"),
    FIELDREF("fieldref"),
    EXISTS("exists"),
    CIDR("cidr"),
    RE("re"),
    IGNORE_CASE("i", "ignorecase"),
    MULTILINE("m", "multiline"),
    DOT_ALL("s", "dotall"),
    LT("lt"),
    LTE("lte"),
    GT("gt"),
    GTE("gte"),
    MINUTE("minute"),
    HOUR("hour"),
    DAY("day"),
    WEEK("week"),
    MONTH("month"),
    YEAR("year");

    private final List<String> names;

    Modifier(String... names) {
        this.names = List.of(names);
    }

    static Optional<Modifier> named(String name) {
        return Arrays.stream(values())
                .filter(modifier -> modifier.names.contains(name))
                .findFirst();
    }

    static String allNames() {
        return Arrays.stream(values())
                .flatMap(modifier -> modifier.names.stream())
                .collect(Collectors.joining(", "));
    }

    String writtenName() {
        return names.get(0);
    }

    /** Returns whether the modifier defines how the values of a list are combined, instead of each value. */
    boolean isOfList() {
        return this == ALL || this == NEQ || this == CASED;
    }
}
