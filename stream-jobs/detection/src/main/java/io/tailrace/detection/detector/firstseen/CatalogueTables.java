package io.tailrace.detection.detector.firstseen;

import java.util.List;

/** Tables about the server. Monitoring accesses more of them over time, and no other tables. */
final class CatalogueTables {

    private static final List<String> SCHEMAS =
            List.of("performance_schema.", "information_schema.", "INFORMATION_SCHEMA.", "sys.");

    private CatalogueTables() {}

    static boolean contain(String table) {
        return SCHEMAS.stream().anyMatch(table::startsWith);
    }
}
