package io.tailrace.statement;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.Fingerprinter;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NameReaderTest {

    private final NameReader reader = new NameReader();

    private StatementNames read(String statement) {
        byte[] bytes = statement.getBytes(StandardCharsets.UTF_8);
        String fingerprint =
                new Fingerprinter().statement(bytes, 0, bytes.length).fingerprint();
        byte[] text = fingerprint.getBytes(StandardCharsets.UTF_8);
        return reader.read(text, text.length);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT * FROM cards",
                "SELECT c.* FROM cards c",
                "SELECT id, c.* FROM cards c",
                "SELECT id, * FROM cards",
                "SELECT SQL_NO_CACHE * FROM cards",
                "SELECT DISTINCT * FROM cards",
                "SELECT /*!40001 SQL_NO_CACHE */ * FROM `cards`",
                "SELECT id FROM (SELECT * FROM cards) x",
                "SELECT id FROM orders NATURAL JOIN cards",
                "INSERT INTO cards VALUES (1, 2)",
                "INSERT INTO shop.cards SELECT id FROM a",
                "INSERT INTO cards (SELECT id FROM a)",
                "INSERT IGNORE INTO cards VALUES (1), (2)",
                "REPLACE cards VALUES (1)",
                "INSERT INTO `cards 2` VALUES (1)",
                "TABLE cards",
                "SELECT 1 UNION TABLE cards",
                "DELETE FROM cards WHERE id = 1",
                "HANDLER cards READ FIRST",
                "LOAD DATA INFILE 'x' INTO TABLE cards",
                "CREATE TABLE t AS SELECT id FROM cards",
                "SELECT 1; SELECT id FROM cards",
                "DELETE FROM a RETURNING *",
                "(SELECT * FROM cards)",
                "WITH c AS (SELECT * FROM cards) SELECT id FROM c",
            })
    void mayTouchEveryColumn(String statement) {
        assertThat(read(statement).everyColumn()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT id FROM cards",
                "SELECT id, name FROM cards WHERE price * 2 > 5",
                "SELECT count(*) FROM cards",
                "SELECT 2 * 3",
                "SELECT a*b FROM cards",
                "SELECT (a) * b, `a`*b FROM cards",
                "INSERT INTO cards (id, name) VALUES (1, 2)",
                "INSERT INTO shop.cards(id) SELECT a FROM b",
                "INSERT INTO cards SET id = 1",
                "REPLACE INTO cards1 (id) VALUES (1)",
                "UPDATE cards SET id = id * 2 WHERE id = 1",
                "(SELECT id FROM cards)",
                "WITH c AS (SELECT id FROM cards) SELECT id FROM c",
            })
    void namesItsColumns(String statement) {
        assertThat(read(statement).everyColumn()).isFalse();
    }

    @Test
    void findsNamesHoweverTheyAreWritten() {
        assertThat(read("SELECT c.Number, `CVC code`, k1x_2, k+1 FROM shop.cards2 c")
                        .names())
                .contains("number", "cvc code", "k?_?", "k", "cards?", "shop");
    }

    @Test
    void findsWhatIsCalled() {
        assertThat(read("SELECT shop.f(1), now(), `a b`.g(2), x.y FROM t WHERE id IN (1)")
                        .called())
                .contains("shop.f", "now", "a b.g")
                .doesNotContain("y", "x.y");
    }

    @Test
    void takesAnything() {
        Random random = new Random(3);
        String pieces = "select * from `\"?.,();a1 /*!? */insert into ";
        for (int i = 0; i < 20_000; i++) {
            byte[] text = new byte[random.nextInt(60)];
            for (int j = 0; j < text.length; j++) {
                text[j] = (byte) pieces.charAt(random.nextInt(pieces.length()));
            }
            assertThat(reader.read(text, text.length)).isNotNull();
        }
    }
}
