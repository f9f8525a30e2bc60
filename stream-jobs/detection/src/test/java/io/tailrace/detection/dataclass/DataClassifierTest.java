package io.tailrace.detection.dataclass;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.FieldValue;
import io.tailrace.detection.event.LogSource;
import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.NormalizedStatement;
import io.tailrace.testing.GrowthRate;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DataClassifierTest {

    private static final String FILE =
            """
            classes:
              pci:
                patterns: [shop.cards, '*.credit_card*', shop.orders.card_*, shop.wallets.pan1]
                exclude: ['*.*_test', shop.orders.card_type, mysql.*]
              pii:
                patterns: ['shop.customers.e?ail', 'shop.customers.phone', shop.people, '*.*.ssn']
            views:
              shop.v_cards: [shop.cards]
              shop.v_all: [shop.v_cards, shop.people]
              shop.v_orders: [shop.orders.id]
              shop.v_harmless: []
            routines:
              shop.report: [shop.cards]
              shop.forget: {reads: [], writes: [shop.people]}
              shop.f2: [shop.v_all]
              shop.nothing: []
            unresolved: ['*.v_*']
            """;

    private final DataClassifier classifier = new DataClassifier(read(FILE));

    private static DataClasses read(String yaml) {
        List<String> errors = new ArrayList<>();
        DataClasses classes = DataClassReader.read("data-classes.yaml", yaml, error -> errors.add(error.toString()));
        assertThat(errors).isEmpty();
        return classes;
    }

    private static DetectionEvent event(Consumer<DetectionEvent.Builder> fields) {
        DetectionEvent.Builder event = DetectionEvent.builder("1", 0, new LogSource("database", "mysql", "slowlog"));
        fields.accept(event);
        return event.build();
    }

    private static List<String> full(List<String> tables) {
        return tables.stream()
                .map(table -> table.contains(".") ? table : "shop." + table)
                .toList();
    }

    private static DetectionEvent statement(String statement, String... flags) {
        byte[] bytes = statement.getBytes(StandardCharsets.UTF_8);
        NormalizedStatement shape = new Fingerprinter().statement(bytes, 0, bytes.length);
        List<String> all = new ArrayList<>(List.of(flags));
        if (!shape.tables().complete()) {
            all.add("tables_incomplete");
        }
        return event(fields -> fields.text("event_class", "query")
                .text("database", "shop")
                .text("query_id", Long.toHexString(shape.queryId()))
                .text("verb", shape.verb())
                .text("statement", shape.fingerprint())
                .text("tables_basis", "statement")
                .texts("table_read", full(shape.tablesRead()))
                .texts("table_written", full(shape.tablesWritten()))
                .texts("flag", all));
    }

    /** Returns classes read, classes written, basis and access, separated by a bar. */
    private String reported(DetectionEvent event) {
        classifier.enrich(event);
        return String.join(
                " | ",
                joined(event, "data_class_read"),
                joined(event, "data_class_written"),
                joined(event, "data_basis"),
                joined(event, "data_access"));
    }

    private static String joined(DetectionEvent event, String field) {
        return String.join(
                " ", event.values(field).stream().map(FieldValue::text).toList());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            textBlock =
                    """
                    SELECT id FROM cards; pci |  | statement | known
                    SELECT id FROM SHOP.Cards c; pci |  | statement | known
                    SELECT 1 FROM other.cards; '|  |  |'
                    SELECT 1 FROM x.credit_card_2024; pci |  | statement | known
                    SELECT 1 FROM x.credit_card_test; '|  |  |'
                    SELECT id FROM orders; '|  |  |'
                    SELECT id, card_no FROM orders; pci |  | statement | known
                    SELECT id, Card_Type FROM orders; '|  |  |'
                    SELECT * FROM orders; pci |  | statement | known
                    SELECT count(*) FROM orders; '|  |  |'
                    SELECT pan1 FROM wallets; pci |  | statement | known
                    SELECT pan FROM wallets; '|  |  |'
                    SELECT id FROM customers WHERE email = 'a'; pii |  | statement | known
                    SELECT id FROM customers ORDER BY phone; pii |  | statement | known
                    SELECT ssn FROM whatever; pii |  | statement | known
                    SELECT * FROM whatever; '|  |  |'
                    SELECT * FROM whatever WHERE ssn = '1'; pii |  | statement | known
                    INSERT INTO customers VALUES (1); | pii | statement | known
                    INSERT INTO customers (id) VALUES (1); '|  |  |'
                    INSERT INTO x (id) SELECT pan FROM cards; pci |  | statement | known
                    INSERT INTO cards (id) SELECT id FROM people; pii | pci | statement | known
                    UPDATE customers SET phone = '1'; | pii | statement | known
                    UPDATE customers SET name = '1'; '|  |  |'
                    DELETE FROM customers WHERE id = 1; | pii | statement | known
                    TRUNCATE customers; | pii | statement | known
                    SHOW CREATE TABLE cards; '|  |  |'
                    EXPLAIN SELECT id FROM cards; pci |  | statement | known
                    DESC ANALYZE SELECT id FROM cards; pci |  | statement | known
                    DESCRIBE SELECT id FROM cards; pci |  | statement | known
                    DESC (SELECT id FROM cards); pci |  | statement | known
                    DESC SELECT id FROM orders; '|  |  |'
                    DESC SELECT card_no FROM orders; pci |  | statement | known
                    DESC SELECT shop.g(1); '|  | unknown | unknown'
                    DESC UPDATE customers SET phone = '1'; pii |  | statement | known
                    DESC cards; '|  |  |'
                    DESCRIBE shop.cards 'b%'; '|  |  |'
                    SHOW TABLES WHERE (SELECT b FROM shop.cards LIMIT 1) LIKE '4%'; pci |  | statement | known
                    SHOW TABLES WHERE EXISTS (TABLE cards); pci |  | statement | known
                    SHOW TABLES FROM shop/**/WHERE/**/(SELECT b FROM cards); pci |  | statement | known
                    SHOW COLUMNS FROM orders WHERE EXISTS (SELECT 1 FROM people); pci pii |  | statement | known
                    SHOW STATUS WHERE shop.f2(1); pci pii |  | resolved | known
                    SHOW STATUS WHERE f2(1) > 0; pci pii |  | resolved | known
                    SHOW STATUS WHERE other.g(1); '|  | unknown | unknown'
                    SHOW STATUS WHERE variable_name IN ('a') OR LEFT(value, 1) = 'b'; '|  |  |'
                    SHOW COLUMNS FROM cards WHERE field IN ('number'); '|  |  |'
                    SHOW INDEX FROM cards WHERE `table` = 'cards'; '|  |  |'
                    SHOW COLUMNS FROM cards LIKE 'a%'; '|  |  |'
                    SHOW VARIABLES WHERE (SELECT b FROM; '|  | unknown | unknown'
                    SELECT * FROM v_cards; pci |  | resolved | known
                    SELECT a FROM v_all; pci pii |  | resolved | known
                    SELECT a FROM v_orders; '|  |  |'
                    SELECT a FROM v_harmless; '|  |  |'
                    SELECT a FROM v_other; '|  | unknown | unknown'
                    SELECT a FROM v_other, cards; pci |  | statement unknown | unknown
                    CALL report(1); pci |  | resolved | known
                    CALL shop.report; pci |  | resolved | known
                    CALL `shop`.`Report`(2); pci |  | resolved | known
                    CALL forget(1); | pii | resolved | known
                    CALL nothing(); '|  |  |'
                    CALL other(); '|  | unknown | unknown'
                    CALL other.report(); '|  | unknown | unknown'
                    SELECT shop.f2(id) FROM t; pci pii |  | resolved | known
                    SELECT f2(id) FROM t; pci pii |  | resolved | known
                    SELECT shop.g(id) FROM t; '|  | unknown | unknown'
                    SELECT now(), count(id) FROM t; '|  |  |'
                    INSERT INTO shop.t (a) VALUES (1); '|  |  |'
                    INSERT INTO shop.t2(a) VALUES (1); '|  |  |'
                    EXECUTE s USING @a; '|  | unknown | unknown'
                    EXECUTE IMMEDIATE @a; '|  | unknown | unknown'
                    BINLOG 'abc'; '|  | unknown | unknown'
                    BEGIN NOT ATOMIC EXECUTE s END; '|  | unknown | unknown'
                    COMMIT; '|  |  |'
                    SET @a = 1; '|  |  |'
                    SET @a = f2(1); pci pii |  | resolved | known
                    """)
    void classifiesStatements(String statement, String expected) {
        assertThat(reported(statement(statement)).strip()).isEqualTo(expected.strip());
    }

    @Test
    void whatWasCutIsUnknownAndMayTouchEveryColumn() {
        assertThat(reported(statement("SELECT id FROM customers", "truncated")))
                .isEqualTo("pii |  | statement unknown | unknown");
        assertThat(reported(statement("SELECT id FROM", "truncated"))).isEqualTo(" |  | unknown | unknown");
        assertThat(reported(statement("SHOW TABLES", "truncated"))).isEqualTo(" |  | unknown | unknown");
        assertThat(reported(statement("DESC", "truncated"))).isEqualTo(" |  | unknown | unknown");
    }

    @Test
    void tablesThatTheServerNames() {
        DetectionEvent row = event(fields -> fields.text("event_class", "table")
                .text("tables_basis", "log")
                .texts("table_read", List.of("shop.customers"))
                .texts("table_written", List.of("shop.cards")));
        assertThat(reported(row)).isEqualTo("pii | pci | log | known");
    }

    @Test
    void aTableWithoutItsDatabaseMayBeAny() {
        DetectionEvent row = event(
                fields -> fields.text("event_class", "table").texts("table_read", List.of("cards", "v_all", "`a.b`")));
        assertThat(reported(row)).isEqualTo("pci pii |  | log resolved | known");
    }

    /** A log that lost the connection's database at a gap names the table alone: mysql.* must not exclude it. */
    @Test
    void onlyTheExclusionsOfAnyDatabaseApplyToATableWithoutItsDatabase() {
        assertThat(reported(reading("cards"))).isEqualTo("pci |  | log | known");
        assertThat(reported(reading("mysql.credit_cards"))).isEqualTo(" |  |  | ");
        assertThat(reported(reading("credit_card_test"))).isEqualTo(" |  |  | ");
    }

    private static DetectionEvent reading(String table) {
        return event(fields -> fields.text("event_class", "table").texts("table_read", List.of(table)));
    }

    @Test
    void aStatementWithoutItsTextIsUnknown() {
        DetectionEvent absent =
                event(fields -> fields.text("event_class", "query").text("command", "Execute"));
        assertThat(reported(absent)).isEqualTo(" |  | unknown | unknown");
        DetectionEvent dump =
                event(fields -> fields.text("event_class", "admin").text("command", "Binlog Dump"));
        assertThat(reported(dump)).isEqualTo(" |  | unknown | unknown");
        DetectionEvent copy =
                event(fields -> fields.text("event_class", "admin").text("command", "clone"));
        assertThat(reported(copy)).isEqualTo(" |  | unknown | unknown");
        assertThat(reported(event(fields -> fields.text("event_class", "message"))))
                .isEqualTo(" |  |  | ");
    }

    @Test
    void aCallWhoseArgumentsReadMayReadEveryColumn() {
        assertThat(reported(statement("CALL nothing((SELECT id FROM customers))")))
                .startsWith("pii |");
    }

    @Test
    void withoutClassesEventsAreNotEnriched() {
        DetectionEvent event = statement("CALL other()");
        new DataClassifier(DataClasses.NONE).enrich(event);
        assertThat(event.values("data_access")).isEmpty();
    }

    @Test
    void manyTablesTakeTimeInProportion() {
        GrowthRate.assertLinear("tables", 1_000, 16_000, tables -> {
            DataClassifier many = ofPatterns(1_000);
            return () -> classify(many, tables);
        });
    }

    /** Forty times the patterns: testing each of them for each table would take forty times as long. */
    @Test
    void manyPatternsTakeHardlyMoreTime() {
        DataClassifier few = ofPatterns(250);
        DataClassifier many = ofPatterns(10_000);
        GrowthRate.assertAtMost("patterns", 6, () -> classify(few, 5_000), () -> classify(many, 5_000));
    }

    private static DataClassifier ofPatterns(int patterns) {
        StringBuilder yaml = new StringBuilder("classes:\n  pci:\n    patterns:\n");
        for (int i = 0; i < patterns; i++) {
            String pattern = List.of("db%d.t_%d", "*.%d_cards_%d*", "shop.*x%d_%d", "shop.t%d.c_%d*")
                    .get(i % 4);
            yaml.append("    - '").append(pattern.formatted(i, i)).append("'\n");
        }
        return new DataClassifier(read(yaml.toString()));
    }

    private static void classify(DataClassifier classifier, int tables) {
        String longName = "x".repeat(100_000);
        for (int i = 0; i < tables; i++) {
            String table = i % 100 == 0 ? "shop." + longName + i : "shop.a" + i + "_cards_" + i;
            DetectionEvent event = event(fields -> fields.text("event_class", "query")
                    .text("query_id", table.substring(table.length() - 6))
                    .text("statement", "select a, b from t where c = ?")
                    .texts("table_read", List.of(table)));
            classifier.enrich(event);
        }
    }
}
