package io.tailrace.detection.detector;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.DetectionEngine;
import io.tailrace.detection.action.ActionResolver;
import io.tailrace.detection.alert.RaisedAlert;
import io.tailrace.detection.bundle.RuleBundle;
import io.tailrace.detection.dataclass.DataClassifier;
import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Measures recall of the complete pack on attacks that stay below the limits of minutes and of single statements, within
 * the activity of {@link BenignCompany}. An attack counts as detected if an alert that states what happened names its
 * account, client or table. {@code target/slow-attacks.txt} lists the result of each.
 */
@Tag("slow")
class SlowAttacksTest {

    private static final int DAYS = 24;
    private static final int FIRST_DAY = 17;
    private static final int THINNED = 20_000;
    /** One session of monitoring represents so many. */
    private static final int MONITORING = 40;

    private static final long LATENESS_MICROS = 60_000_000;
    private static final int HOUR = 3600;
    private static final int REFUSED = 1045;
    private static final double FLOOR = 0.88;
    private static final String SLOW_READS = "volume_query_rows volume_rows sensitive_bulk_read";

    private final BenignCompany company = new BenignCompany(11, Instant.parse("2026-09-07T00:00:00Z"));
    private final Random random = new Random(3);
    private final List<Attack> attacks = new ArrayList<>();

    /**
     * One attack.
     *
     * @param entity text that an alert about it contains in its entity or facts
     * @param rules names of the rules that state what happened
     */
    private record Attack(String name, String entity, Set<String> rules, List<String> alerts) {}

    @Test
    void slowAttacksAreDetectedForTheRightReason() throws IOException {
        guessing();
        spraying();
        paging();
        tableByTable();
        massChanges();
        truncated();
        run();
        long detected =
                attacks.stream().filter(attack -> !attack.alerts.isEmpty()).count();
        String result = attacks.stream()
                .map(attack ->
                        (attack.alerts.isEmpty() ? "missed   " : "detected ") + attack.name + " " + attack.alerts)
                .collect(Collectors.joining("\n"));
        Files.writeString(
                Path.of("target", "slow-attacks.txt"), detected + " of " + attacks.size() + "\n" + result + "\n");
        assertThat(detected / (double) attacks.size()).as(result).isGreaterThanOrEqualTo(FLOOR);
    }

    private void attack(String name, String entity, String rules) {
        attacks.add(new Attack(name, entity, Set.of(rules.split(" ")), new ArrayList<>()));
    }

    private void guessing() {
        attack("one client, 8 a day for 6 days", "anna", "login_failures slow_guessing");
        failures(0, 6, 8, "anna", i -> "10.66.1.5");
        attack("one client, 3 a day for 7 days", "dev4", "login_failures slow_guessing");
        failures(0, 7, 3, "dev4", i -> "10.66.3.5");
        attack("guessed after 5 days of 6", "ben", "login_after_guessing login_after_slow_guessing");
        failures(0, 5, 6, "ben", i -> "10.66.2.5");
        at(FIRST_DAY + 5, 12 * HOUR, () -> company.login("db1", "ben", "10.66.2.5", 0));
        attack("seven clients, one a day each", "chris", "login_failures slow_distributed_guessing");
        failures(0, 4, 7, "chris", i -> "10." + (70 + i % 7) + ".4.9");
        attack("login from elsewhere after guesses of six clients", "dora", "login_after_guessing");
        failures(0, 5, 12, "dora", i -> "10." + (80 + i % 6) + ".4.9");
        at(FIRST_DAY + 5, 15 * HOUR, () -> company.login("db1", "dora", "10.90.1.9", 0));
        attack("account of an application, 12 a day", "mailer", "login_failures slow_distributed_guessing");
        failures(1, 3, 12, "mailer", i -> "10.69.0." + (10 + i % 5));
        attack("account that does not exist, 15 a day", "admin", "login_failures slow_guessing");
        failures(2, 2, 15, "admin", i -> "10.66.7.5");
    }

    private void spraying() {
        attack("one client, six accounts a day", "10.67.0.5", "login_failures slow_spraying");
        for (int day = 0; day < 5; day++) {
            for (int i = 0; i < 6; i++) {
                String user = "dev" + (day * 6 + i) % 14;
                at(
                        FIRST_DAY + day,
                        HOUR * (3 + 3 * i) + random.nextInt(HOUR),
                        () -> company.login("db1", user, "10.67.0.5", REFUSED));
            }
        }
        attack("one network, twelve clients and accounts", "10.68.0.", "login_failures");
        for (int day = 0; day < 4; day++) {
            for (int i = 0; i < 12; i++) {
                String user = "analyst" + i % 10;
                String host = "10.68.0." + (10 + i);
                at(
                        FIRST_DAY + day,
                        HOUR * (2 + i) + random.nextInt(HOUR),
                        () -> company.login("db2", user, host, REFUSED));
            }
        }
    }

    private void failures(int fromDay, int days, int perDay, String user, IntFunction<String> host) {
        for (int day = 0; day < days; day++) {
            for (int i = 0; i < perDay; i++) {
                String client = host.apply(i);
                int second = 86_000 / perDay * i + random.nextInt(600);
                at(FIRST_DAY + fromDay + day, second, () -> company.login("db1", user, client, REFUSED));
            }
        }
    }

    private void paging() {
        attack("LIMIT OFFSET in two hours", "catalog", SLOW_READS);
        reads("catalog", "10.20.2.7", "SELECT * FROM customers ORDER BY id LIMIT 1000 OFFSET 5000", 120, 2, 1_000);
        attack("WHERE id > ? over twenty hours", "reviews", SLOW_READS);
        reads("reviews", "10.20.10.7", "SELECT * FROM articles WHERE id > 7 ORDER BY id LIMIT 500", 400, 20, 500);
        attack("small pages over twenty hours", "search", SLOW_READS);
        reads("search", "10.20.3.7", "SELECT id, title FROM articles WHERE id > 7 LIMIT 25", 6_000, 20, 25);
        attack("row by row over ten hours", "auth", SLOW_READS + " volume_query_statements");
        reads("auth", "10.20.8.7", "SELECT email, phone FROM customers WHERE id = 5", 30_000, 10, 2);
        attack("a person, row by row, audit log only", "analyst3", "volume_query_statements volume_statements");
        BenignCompany.Statement read = company.statement("SELECT iban FROM payments WHERE id = 5");
        for (int i = 0; i < 12_000; i++) {
            at(
                    FIRST_DAY + 2,
                    8 * HOUR + i * 6 * HOUR / 12_000,
                    () -> company.audited("db2", "QUERY", "query", "analyst3", "10.30.2.13", read, 0));
        }
    }

    private void reads(String user, String host, String text, int times, int hours, int rows) {
        BenignCompany.Statement statement = company.statement(text);
        for (int i = 0; i < times; i++) {
            int second = 2 * HOUR + (int) (i * (hours * (double) HOUR) / times);
            at(FIRST_DAY + 1, second, () -> company.slow("db2", user, host, statement, rows, 0, 0));
        }
    }

    private void tableByTable() {
        attack("table-by-table dump over ten hours", "analyst7", "volume_tables many_tables_read");
        tables(30, i -> "SELECT * FROM " + part(i), i -> FIRST_DAY + 1, 20 * 60, "db3", "analyst7", "10.30.2.17");
        attack("table-by-table dump on the usual server", "analyst6", "volume_tables many_tables_read");
        tables(30, i -> "SELECT * FROM " + part(i), i -> FIRST_DAY + 1, 20 * 60, "db2", "analyst6", "10.30.2.16");
        attack("table-by-table writes over eight hours", "dev6", "volume_tables");
        tables(
                24,
                i -> "UPDATE " + part(i) + " SET note = 'x' WHERE id < 900",
                i -> FIRST_DAY + 2,
                20 * 60,
                "db3",
                "dev6",
                "10.30.3.16");
        attack("one table dropped an hour", "dev8", "volume_tables many_tables_dropped");
        tables(12, i -> "DROP TABLE " + part(i), i -> FIRST_DAY + 3, HOUR, "db3", "dev8", "10.30.3.18");
    }

    /** Returns the name of a table, without digits, because fingerprints replace them. */
    private static String part(int i) {
        return "part_" + (char) ('a' + i / 26) + (char) ('a' + i % 26);
    }

    private void tables(
            int count,
            IntFunction<String> text,
            IntFunction<Integer> day,
            int step,
            String server,
            String user,
            String host) {
        for (int i = 0; i < count; i++) {
            BenignCompany.Statement statement = company.statement(text.apply(i));
            at(day.apply(i), 8 * HOUR + i * step, () -> {
                company.audited(server, "QUERY", "query", user, host, statement, 0);
                company.slow(server, user, host, statement, 40, 0, 0);
            });
        }
    }

    private void massChanges() {
        change("dev1", "UPDATE orders SET state = 'x' WHERE created_at > '2020-01-01'", 250_000, "rows_affected");
        change("dev2", "DELETE FROM customers WHERE country = 'DE' OR country <> 'DE'", 90_000, "rows_affected");
        change("dev3", "UPDATE payments SET amount = 0 WHERE id > 0", 80_000, "rows_affected update_without_where");
        change("shop", "UPDATE products SET price = price * 0.01 WHERE active = 1", 40_000, "rows_affected");
        change("dev9", "DELETE FROM reviews WHERE id BETWEEN 1 AND 9000000", 30_000, "rows_affected");
    }

    private void change(String user, String text, int rows, String rules) {
        attack("mass change: " + text, user, rules);
        BenignCompany.Statement statement = company.statement(text);
        at(
                FIRST_DAY + 4,
                10 * HOUR + attacks.size() * 300,
                () -> company.slow("db1", user, "10.30.3.11", statement, 0, rows, 0));
    }

    private void truncated() {
        cut("support14", "SELECT c.id, c.name FROM customers c WHERE c.note IN ('a', 'b'");
        cut("support15", "INSERT INTO attic (id, name) SELECT id, name FROM customers WHERE note IN ('a'");
        cut("support16", "INSERT INTO attic (id, name) VALUES (1, 'a'), (2, 'b'");
    }

    private void cut(String user, String text) {
        attack("truncated statement of a person: " + text, user, "statement_truncated");
        BenignCompany.Statement statement = company.statement(text);
        at(
                FIRST_DAY + 3,
                11 * HOUR,
                () -> company.cut("db3", user, "10.30.3." + (10 + attacks.size() % 40), statement));
    }

    private void at(int day, int second, Runnable work) {
        company.add(day, second, work);
    }

    private void run() throws IOException {
        RuleBundle bundle = RuleBundle.of(RuleBundle.files(Path.of("../../rules")), new DatabaseFieldMapping());
        assertThat(bundle.errors()).isEmpty();
        DetectionEngine rules = new DetectionEngine(bundle.rules(), LATENESS_MICROS);
        InMemoryDetectorEngine detectors =
                new InMemoryDetectorEngine(bundle.detectors(), LATENESS_MICROS, () -> Long.MAX_VALUE / 2);
        DataClassifier classifier = new DataClassifier(bundle.dataClasses());
        ActionResolver actions = new ActionResolver(10_000);
        for (int day = 0; day < DAYS; day++) {
            company.day(day, hour -> THINNED, false, MONITORING, event -> {
                classifier.enrich(event);
                event.actionFrom(actions::of);
                rules.detect(event, alert -> note(alert, event));
                detectors.detect(event, alert -> note(alert, event));
            });
        }
    }

    private void note(RaisedAlert alert, DetectionEvent event) {
        Set<String> texts = new HashSet<>(alert.entity().values());
        texts.addAll(alert.facts().values());
        event.values("user").forEach(user -> texts.add(user.text()));
        for (Attack attack : attacks) {
            if (attack.rules.contains(alert.rule().name())
                    && texts.stream().anyMatch(text -> isAbout(text, attack.entity))
                    && !attack.alerts.contains(alert.rule().name())) {
                attack.alerts.add(alert.rule().name());
            }
        }
    }

    private static boolean isAbout(String text, String entity) {
        return text.equals(entity) || entity.startsWith("10.") && text.startsWith(entity);
    }
}
