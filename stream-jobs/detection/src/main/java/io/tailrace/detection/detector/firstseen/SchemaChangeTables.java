package io.tailrace.detection.detector.firstseen;

import java.util.regex.Pattern;

/** Copies and log tables of gh-ost and pt-online-schema-change: one change of a schema has three of them. */
final class SchemaChangeTables {

    private static final Pattern NAMES = Pattern.compile("(.*\\.)?_.+_(gho|ghc|del|new|old)");

    private SchemaChangeTables() {}

    static boolean contain(String table) {
        return NAMES.matcher(table).matches();
    }
}
