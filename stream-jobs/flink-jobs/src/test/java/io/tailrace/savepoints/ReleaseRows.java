package io.tailrace.savepoints;

import io.tailrace.servers.Await;
import io.tailrace.servers.ClickHouseServer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The rows of a release in ClickHouse: those of before the savepoint in the tables themselves, and all of them beside these,
 * for comparison. The tables are empty before and afterwards.
 */
final class ReleaseRows implements AutoCloseable {

    private static final String EXPECTED = "release_rows";
    /** Rows of each difference in a failure. */
    private static final int SHOWN = 50;

    private static final String LEDGER = "ledger";
    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    /** What follows from the moment at which a row was written, such as the logs that had been read further by then. */
    private static final List<String> OF_THE_MOMENT = List.of(
            "ingested_at", "seen_at", "updated_at", "told_at", "changed_at", "after_checkpoint", "version", "late");

    private final ClickHouseServer clickHouse;
    private final Map<String, String> before;
    private final Map<String, String> after;
    private final Map<String, String> columns = new HashMap<>();
    private final Map<String, String> added = new HashMap<>();

    ReleaseRows(ClickHouseServer clickHouse, ReleaseState release) throws Exception {
        this.clickHouse = clickHouse;
        this.before = release.rowsBefore();
        this.after = release.rowsAfter();
        truncate();
        clickHouse.query("CREATE DATABASE " + EXPECTED);
        for (String table : tables()) {
            createExpected("before", table, before.get(table));
            createExpected("after", table, after.get(table));
            insert("tailrace." + table, before.get(table));
            columns.put(table, compared(table, release.changedColumns(table)));
            added.put(table, release.addedRows(table));
        }
    }

    /** Tables of the release, sorted. */
    private List<String> tables() {
        return List.copyOf(before.keySet());
    }

    private void createExpected(String moment, String table, String rows) throws Exception {
        String name = EXPECTED + "." + moment + "_" + table;
        clickHouse.query("CREATE TABLE " + name + " AS tailrace." + table + " ENGINE = Memory");
        insert(name, rows);
    }

    /** Columns that this version no longer has are left out. */
    private void insert(String table, String rows) throws Exception {
        if (!rows.isEmpty()) {
            clickHouse.query("INSERT INTO " + table
                    + " SETTINGS input_format_skip_unknown_fields = 1 FORMAT JSONEachRow\n" + rows);
        }
    }

    /** Whether the tables hold what the release wrote, and nothing else. */
    boolean areSame() throws Exception {
        for (String table : tables()) {
            if (!differences(table).isEmpty()) {
                return false;
            }
        }
        return true;
    }

    /** Rows of the release that are missing, and rows that it did not write. */
    String differences() throws Exception {
        StringBuilder differences = new StringBuilder();
        for (String table : tables()) {
            differences.append(differences(table));
        }
        return differences.toString();
    }

    private String differences(String table) throws Exception {
        String before = EXPECTED + ".before_" + table;
        String after = EXPECTED + ".after_" + table;
        String now = select(table, "tailrace." + table);
        String then = select(table, "(SELECT * FROM " + before + " UNION ALL SELECT * FROM " + after + ")");
        boolean sums = table.equals(LEDGER);
        return rows("missing in " + table, (sums ? then : select(table, after)) + " EXCEPT DISTINCT " + now)
                + rows("not expected in " + table, expected(table) + " EXCEPT DISTINCT " + then);
    }

    /** The rows of this version without those that it adds on purpose. */
    private String expected(String table) {
        return select(table, "(SELECT * FROM tailrace." + table + " WHERE NOT (" + added.get(table) + "))");
    }

    private String rows(String what, String select) throws Exception {
        String rows = clickHouse.query("SELECT * FROM (" + select + ") ORDER BY ALL LIMIT " + SHOWN
                + " SETTINGS final = 1 FORMAT JSONEachRow");
        return rows.isEmpty() ? "" : what + ":\n" + rows + "\n";
    }

    /** Postings are split by checkpoints: their sums are the same. A frontier and a census depend on the moment. */
    private String select(String table, String from) {
        return table.equals(LEDGER)
                ? "SELECT instance, source, path, generation, stage, kind, detail, sum(count), sum(bytes) FROM " + from
                        + " WHERE kind NOT IN ('FRONTIER', 'CENSUS') GROUP BY ALL"
                : "SELECT " + columns.get(table) + " FROM " + from;
    }

    /** What is compared of a table. The keys of a map have no order. */
    private String compared(String table, Map<String, String> changed) throws Exception {
        Stream<String> everywhere =
                changed.keySet().stream().filter(column -> changed.get(column).equals(ReleaseState.EVERY_ROW));
        String ignored = Stream.concat(OF_THE_MOMENT.stream(), everywhere)
                .map(column -> "'" + column + "'")
                .collect(Collectors.joining(","));
        String compared = clickHouse.query("SELECT arrayStringConcat(groupArray(if(type LIKE 'Map(%',"
                + " 'mapSort(`' || name || '`) AS `' || name || '`', '`' || name || '`')), ',') FROM system.columns"
                + " WHERE database = 'tailrace' AND table = '" + table + "' AND name NOT IN (" + ignored + ")"
                + " AND default_kind NOT IN ('ALIAS', 'MATERIALIZED')");
        for (Map.Entry<String, String> change : changed.entrySet()) {
            String column = "`" + change.getKey() + "`";
            String where = change.getValue();
            String ignoredValue = "defaultValueOfArgumentType(" + column + ")";
            compared = compared.replace(column, "if(" + where + ", " + ignoredValue + ", " + column + ") AS " + column);
        }
        return compared;
    }

    private void truncate() throws Exception {
        String inserts = "SELECT count() FROM system.processes WHERE user = 'writer'";
        Await.until("the inserts of jobs that were killed", TIMEOUT, () -> clickHouse.count(inserts) == 0);
        String tables = clickHouse.query("SELECT name FROM system.tables WHERE database = 'tailrace'"
                + " AND engine LIKE '%MergeTree' AND name NOT LIKE '.inner%'");
        for (String table : tables.lines().toList()) {
            clickHouse.query("TRUNCATE TABLE tailrace." + table);
        }
    }

    @Override
    public void close() throws Exception {
        clickHouse.query("DROP DATABASE " + EXPECTED);
        truncate();
    }
}
