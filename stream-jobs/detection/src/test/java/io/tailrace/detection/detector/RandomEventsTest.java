package io.tailrace.detection.detector;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.testing.PropertyTestBudget;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs all detectors over random events: {@link DetectorRun} writes and reads all state after each of them. */
class RandomEventsTest {

    /** Short periods, so that random events make them fire. */
    private static final String EAGER =
            """
            first_seen_user: {learning: 1d, settling_period: 12h}
            first_seen_host: {learning: 1d, settling_period: 12h, max_values: 8}
            first_seen_program: {learning: 1d}
            first_seen_table: {learning: 1d}
            first_seen_change: {learning: 1d}
            first_seen_read: {learning: 1d}
            first_seen_data_class: {learning: 1d}
            first_seen_statement: {learning: 1d}
            dormant_account: {inactivity: 1d}
            off_hours: {weeks: 2, regularity: 0.5, max_active_share: 1}
            volume_rows: {learning: 1d, deviations: 1, min_amount: 10, hours: 3, seasonal_hours: 3}
            volume_statements: {learning: 1d, deviations: 1, min_amount: 2, hours: 3, seasonal_hours: 3}
            volume_tables: {learning: 1d, deviations: 1, min_amount: 1, hours: 3, seasonal_hours: 3}
            privilege_chain: {learning: 1h}
            volume_query_rows: {learning: 1d, deviations: 1, min_amount: 10, min_amount_day: 20}
            volume_query_statements: {learning: 1d, deviations: 1, min_amount: 10, min_amount_day: 20}
            volume_ranges: {learning: 1d, deviations: 1, min_amount: 1, min_share: 0}
            volume_lookups: {learning: 1d, deviations: 1, min_amount: 1, min_share: 0}
            volume_reads: {learning: 1d, deviations: 1, min_amount: 1, min_amount_hour: 1}
            rows_affected: {learning: 1d, deviations: 1, min_amount: 10, days: 1}
            peer_tables: {learning: 1d, min_peers: 1, min_shared: 0, groups: {all: {user|startswith: u}}}
            login_failures: {learning: 1d, deviations: 1, min_amount: 2, min_amount_week: 5, min_distinct: 1}
            login_after_guessing: {min_amount: 2}
            tampering_chain: {rows: 1000}
            concurrent_networks: {learning: 1d, within: 2h}
            """;

    /** Detectors that are not in {@link #EAGER}: one needs a file of places, the others observe no events. */
    private static final Set<DetectorType> NOT_EAGER = Set.of(
            DetectorType.IMPOSSIBLE_PLACES,
            DetectorType.COVERAGE,
            DetectorType.COVERAGE_GAP,
            DetectorType.PLAN_SLOWER,
            DetectorType.SIGNED_RANGE);

    private static final int NO_STATE = 1;
    private static final int FEW_VALUES = 256 * 12 + 3_500;
    private static final int SUMS_OF_HOURS = 10_000;
    private static final int QUERIES = 128 * 118 + 300;

    /** The state of an entity has fewer bytes, whatever comes; by {@link DetectorType#key()}. */
    private static final Map<String, Integer> BOUNDS = Map.ofEntries(
            Map.entry("first_seen_user", 4_000 * 12 + 3_500),
            Map.entry("first_seen_host", FEW_VALUES),
            Map.entry("first_seen_program", FEW_VALUES),
            Map.entry("first_seen_table", 2_000 * 12 + 3_500),
            Map.entry("first_seen_change", 2_000 * 12 + 3_500),
            Map.entry("first_seen_read", 2_000 * 12 + 3_500),
            Map.entry("first_seen_data_class", FEW_VALUES),
            Map.entry("first_seen_statement", 2_000 * 12 + 3_500),
            Map.entry("dormant_account", 32),
            Map.entry("off_hours", 200),
            Map.entry("volume_rows", SUMS_OF_HOURS),
            Map.entry("volume_statements", SUMS_OF_HOURS),
            Map.entry("volume_tables", SUMS_OF_HOURS),
            Map.entry("volume_query_rows", QUERIES),
            Map.entry("volume_query_statements", QUERIES),
            Map.entry("volume_ranges", 64 * 75 + 400),
            Map.entry("volume_lookups", 64 * 75 + 400),
            Map.entry("volume_reads", 64 * 75 + 400),
            Map.entry("rows_affected", 64),
            Map.entry("peer_tables", 2_000 * 20 + 64 * 16 + 100),
            Map.entry("login_failures", 1_200),
            Map.entry("login_after_guessing", 1_500),
            Map.entry("privilege_chain", 4_000 * 17 + 30_000),
            Map.entry("tampering_chain", 10_000),
            Map.entry("concurrent_networks", 64 * 12 + 10_000),
            Map.entry("coverage", NO_STATE),
            Map.entry("coverage_gap", NO_STATE),
            Map.entry("plan_slower", NO_STATE),
            Map.entry("signed_range", NO_STATE));

    private static final List<String> STATEMENTS = List.of(
            "select ?",
            "create user ?@?",
            "grant all on *.* to ?@?",
            "set global general_log = ?",
            "drop table t",
            "select load_file(?)",
            "purge binary logs to ?");

    private static final List<String> LOGINS = List.of("", "", "failure", "failure", "failure", "success");

    @Test
    void everyDetectorOfEventsIsTested() {
        assertThat(EAGER.lines().map(line -> line.substring(0, line.indexOf(':'))))
                .as("detectors in EAGER: add a new one, or to NOT_EAGER with the reason")
                .containsExactlyInAnyOrderElementsOf(Stream.of(DetectorType.values())
                        .filter(type -> !NOT_EAGER.contains(type))
                        .map(DetectorType::fileKey)
                        .toList());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void stateMayBeWrittenAndReadAtAnyTime(long seed) {
        Random random = new Random(seed);
        DetectorRun run = new DetectorRun(EAGER);
        double hour = 0;
        for (int i = 0; i < PropertyTestBudget.of(600, 1200); i++) {
            hour += random.nextInt(20) == 0 ? random.nextInt(60) : random.nextDouble() / 2;
            double late = random.nextInt(5) == 0 ? hour - random.nextInt(8) : hour;
            String service = random.nextBoolean() ? "slowlog" : "audit";
            run.event("e" + random.nextInt(1000), Math.max(0, late), service, fields(random));
        }
        assertThat(run.alerts()).as("behavioural alerts explain themselves").allSatisfy(alert -> assertThat(
                        alert.facts().get(Explanation.FACT))
                .endsWith("."));
        assertThat(run.alerts())
                .extracting(alert -> alert.rule().name())
                .as("random events make nearly all detectors fire")
                .contains(
                        "first_seen_host",
                        "dormant_account",
                        "volume_rows",
                        "volume_query_rows",
                        "volume_tables",
                        "rows_affected",
                        "login_failures",
                        "login_after_guessing",
                        "privilege_chain");
    }

    private static String[] fields(Random random) {
        String user = "u" + random.nextInt(random.nextInt(8) + 1);
        String ip = "10." + random.nextInt(3) + "." + random.nextInt(4) + ".1";
        return new String[] {
            "user",
            user,
            "host",
            ip,
            "src_ip",
            ip,
            "program",
            "p" + random.nextInt(4),
            "table",
            (random.nextInt(30) == 0 ? "mysql.t" : "s.t") + random.nextInt(20) + ",s.a",
            "data_class",
            "c" + random.nextInt(4),
            "login",
            LOGINS.get(random.nextInt(LOGINS.size())),
            "error_code",
            "1045",
            "query_id",
            "q" + random.nextInt(4),
            "verb",
            random.nextBoolean() ? "UPDATE" : "SELECT",
            "table_written",
            "s.t" + random.nextInt(3),
            "rows_affected",
            Integer.toString((int) Math.pow(10, random.nextInt(5))),
            "rows_sent",
            Integer.toString((int) Math.pow(10, random.nextInt(5))),
            "target_user",
            random.nextBoolean() ? "" : "u" + random.nextInt(8),
            "statement",
            STATEMENTS.get(random.nextInt(20) == 0 ? random.nextInt(STATEMENTS.size()) : 0)
        };
    }

    @Test
    void stateIsBoundedWhateverComes() throws IOException {
        Map<String, Integer> sizes = sizes(true);

        assertThat(sizes.keySet())
                .as("detectors in BOUNDS: add a new one, with the bound in docs/DETECTORS.md")
                .isEqualTo(BOUNDS.keySet());
        sizes.forEach((name, size) ->
                assertThat(size).as("bytes of the state of " + name).isLessThan(BOUNDS.get(name)));
    }

    /** Verifies the sizes in docs/DETECTORS.md for typical entities. */
    @Test
    void usualStateIsSmall() throws IOException {
        Map<String, Integer> sizes = sizes(false);

        assertThat(sizes.get("first_seen_host")).isLessThan(80);
        assertThat(sizes.get("off_hours")).isLessThan(190);
        assertThat(sizes.get("dormant_account")).isLessThan(20);
        assertThat(sizes.get("volume_rows")).isLessThan(2_500);
        assertThat(sizes.get("volume_statements")).isLessThan(2_500);
        assertThat(sizes.get("volume_tables")).isLessThan(2_500);
        assertThat(sizes.get("volume_query_rows")).isLessThan(500);
    }

    /** Returns the size of the largest state of each detector, in bytes. */
    private static Map<String, Integer> sizes(boolean hostile) throws IOException {
        String yaml = Files.readString(Path.of("../../rules/detectors.yaml")) + "\n";
        List<StatefulDetector> detectors =
                new ArrayList<>(DetectorRun.file(yaml).detectors());
        detectors.addAll(DetectorRun.file("concurrent_networks: {}\nfirst_seen_statement: {}\n")
                .detectors());
        Map<String, Integer> sizes = new TreeMap<>();
        for (StatefulDetector detector : detectors) {
            sizes.put(detector.header().name(), size(detector, hostile));
        }
        return sizes;
    }

    private static int size(StatefulDetector detector, boolean hostile) throws IOException {
        Map<List<String>, DetectorState> states = new HashMap<>();
        List<RaisedAlert> alerts = new ArrayList<>();
        for (int i = 0; i < 6_000; i++) {
            DetectionEvent event = hostile ? hostile(i) : usual(i);
            detector.observe(
                    event,
                    observation -> detector.update(
                            states.computeIfAbsent(observation.entity(), key -> detector.newState()),
                            observation,
                            alerts::add));
        }
        int largest = 0;
        for (DetectorState state : states.values()) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            state.write(new DataOutputStream(bytes));
            largest = Math.max(largest, bytes.size());
        }
        return largest;
    }

    private static DetectionEvent hostile(int i) {
        String name = "\uD83D\u0000" + "x".repeat(1_000) + i;
        String service = i % 2 == 0 ? "slowlog" : "audit";
        return DetectionEvent.builder(name, i * 400_000_000L, new LogSource("database", "mysql", service))
                .text("event_class", "query")
                .text("instance", "db1")
                .text("user", i % 3 == 0 ? name : "app")
                .text("host", name)
                .text("src_ip", "10." + i % 250 + "." + i / 250 + ".1")
                .text("program", i % 5 == 0 ? name : "shop")
                .texts("data_class", List.of(name))
                .texts("table", List.of("mysql." + name, name))
                .texts("target_user", List.of(name, "b" + name))
                .text("rows_sent", i % 7 == 0 ? "1e308" : "-5")
                .text("statement", STATEMENTS.get(i % STATEMENTS.size()) + name)
                .text("login", i % 3 == 0 ? "success" : "failure")
                .text("error_code", "1045")
                .text("verb", "DELETE")
                .texts("table_written", List.of(name))
                .text("rows_affected", i % 7 == 0 ? "1e308" : "70")
                .text("query_id", name)
                .build();
    }

    private static DetectionEvent usual(int i) {
        String service = i % 2 == 0 ? "slowlog" : "audit";
        return DetectionEvent.builder("e" + i, i * 400_000_000L, new LogSource("database", "mysql", service))
                .text("event_class", "query")
                .text("instance", "db1")
                .text("user", "app")
                .text("host", "10.0." + i % 3 + ".1")
                .text("program", "shop")
                .texts("table", List.of("shop.t" + i % 5))
                .number("rows_sent", i % 100)
                .text("statement", "select name from customers where id = ?")
                .text("query_id", "a1b2c3d4e5f60718")
                .build();
    }
}
