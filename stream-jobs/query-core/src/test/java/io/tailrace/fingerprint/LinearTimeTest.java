package io.tailrace.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.mask.Masker;
import io.tailrace.testing.GrowthRate;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The time for a statement is proportional to its length. */
@Tag("slow")
class LinearTimeTest {

    private static final Map<String, String[]> HOSTILE = new LinkedHashMap<>();

    /** Parameters: name, start of the statement, and the text that is repeated after it. */
    private static void hostile(String name, String first, String repeated) {
        HOSTILE.put(name, new String[] {first, repeated});
    }

    static {
        hostile("one literal", "SELECT '", "a");
        hostile("quotes", "SELECT ", "'");
        hostile("double quotes", "SELECT ", "\"");
        hostile("backticks", "SELECT ", "`");
        hostile("names in backticks", "SELECT * FROM ", "`a`.");
        hostile("literals", "SELECT ", "'a',");
        hostile("backslashes", "SELECT '", "\\");
        hostile("open parentheses", "SELECT ", "(");
        hostile("closed parentheses", "SELECT ", ")");
        hostile("pairs of parentheses", "SELECT ", "()");
        hostile("commas", "SELECT a FROM ", ",");
        hostile("points", "SELECT a FROM t", ".");
        hostile("numbers", "SELECT ", "1,");
        hostile("signs", "SELECT ", "-1");
        hostile("points and digits", "SELECT ", ".1");
        hostile("a long name", "SELECT ", "a");
        hostile("a long number", "SELECT ", "1");
        hostile("hexadecimal digits", "SELECT a1", "f-");
        hostile("tables", "SELECT a FROM a", ",t");
        hostile("many tables", "SELECT a FROM a", " join b.c d");
        hostile("unions", "SELECT 1", " UNION SELECT 1");
        hostile("unions of other selects", "SELECT a", " UNION ALL SELECT a,b");
        hostile("selects", "SELECT 1 UNION ", "SELECT ");
        hostile("subqueries", "SELECT a FROM t WHERE a IN ", "(SELECT b FROM u WHERE c IN ");
        hostile("IN lists", "SELECT ", "a IN (1,2) ");
        hostile("open IN lists", "SELECT ", "a IN (");
        hostile("a long IN list", "SELECT a FROM t WHERE a IN (1", ",1");
        hostile("rows", "INSERT INTO t VALUES (1)", ",(1,'a')");
        hostile("rows of expressions", "INSERT INTO t VALUES (NOW())", ",(NOW(),1)");
        hostile("VALUES within VALUES", "INSERT INTO t ", "VALUES (a,");
        hostile("ROW within ROW", "INSERT INTO t VALUES ", "ROW(a,");
        hostile("comments", "SELECT a", "/*c*/");
        hostile("open comments", "SELECT a", "/*");
        hostile("executable comments", "SELECT a", "/*!50000 b*/");
        hostile("open executable comments", "SELECT a", "/*!");
        hostile("executable comments of some servers", "SELECT a", "/*!80100 /*b*/*/");
        hostile("open executable comments of some servers", "SELECT a", "/*!80100 /**/");
        hostile("tags", "SELECT a", "/*action='b',c='d'*/");
        hostile("a long comment of tags", "SELECT a /*a='b'", ",a='b'");
        hostile("line comments", "SELECT a", "#\n");
        hostile("dashes", "SELECT a", "--");
        hostile("blanks", "SELECT a", " ");
        hostile("introducers", "SELECT ", "_a ");
        hostile("introducers and blanks", "SELECT ", "_a       ");
        hostile("semicolons", "SELECT a", ";");
        hostile("statements", "SELECT a FROM t", ";UPDATE a,b SET c.d=1");
        hostile("assignments", "UPDATE a,b,c,d,e SET a.b=1", ",c.d=2");
        hostile("targets", "DELETE a", ",b");
        hostile("common table expressions", "WITH a AS (SELECT 1)", ",b AS (SELECT 1)");
        hostile("labels", "", "a:");
        hostile("LIMIT", "SELECT a ", "LIMIT 1,2 ");
        hostile("ASC", "SELECT a ORDER BY a", " ASC");
        hostile("NUL bytes", "SELECT a", "\0");
        hostile("dollar quotes", "SELECT a", " $$");
        hostile("tags of dollar quotes", "CREATE FUNCTION f() AS ", "$a$ $b$ ");
        hostile("names like tags", "SELECT a", " $a$b $b$c");
        hostile("programs", "CREATE PROCEDURE p() BEGIN", " IF a THEN BEGIN SELECT b; DECLARE c CURSOR FOR");
        hostile("backslashes outside", "SELECT ", "\\");
        hostile("privileges", "", "GRANT ");
        hostile("accounts", "DROP USER a", ",b@c");
        hostile("passwords", "CREATE USER a IDENTIFIED BY 'x'", ",b IDENTIFIED BY 'y'");
        hostile("settings of statements", "", "SET STATEMENT a=1 FOR ");
        hostile("prepared statements that are not closed", "", "PREPARE s FROM '");
        hostile("bytes that are no UTF-8", "SELECT a", "\u00ff");
    }

    @TestFactory
    Stream<DynamicTest> twiceTheLengthTakesTwiceTheTime() {
        return tests(32 << 10, 512 << 10);
    }

    @TestFactory
    @Tag("long")
    Stream<DynamicTest> aHundredMegabytes() {
        return tests(25 << 20, 100 << 20);
    }

    /** A text is also read beyond the part that is stored, because its quotes may not match. */
    @Test
    void omittedTextIsRead() {
        String columns = ", a".repeat(Masker.MAX_MASKED_LENGTH / 3);
        byte[] whole = ("SELECT 'x'" + columns + ", b FROM t").getBytes(StandardCharsets.ISO_8859_1);
        byte[] mismatched = ("SELECT 'x', hunter" + columns + ", 'y").getBytes(StandardCharsets.ISO_8859_1);
        Fingerprinter fingerprinter = new Fingerprinter();
        NormalizedStatement shape = fingerprinter.statement(whole, 0, whole.length);
        assertThat(shape.fingerprint()).startsWith("select ?, a, a").hasSize(Fingerprinter.MAX_TEXT_LENGTH);
        assertThat(shape.tables().complete()).isFalse();
        assertThat(fingerprinter.statement(mismatched, 0, mismatched.length).fingerprint())
                .isEqualTo("select ?");
    }

    private static Stream<DynamicTest> tests(int smallest, int largest) {
        return HOSTILE.entrySet().stream()
                .map(entry -> DynamicTest.dynamicTest(
                        entry.getKey(),
                        () -> GrowthRate.assertLinear(
                                entry.getKey(), smallest, largest, size -> reading(entry.getValue(), size))));
    }

    private static Runnable reading(String[] parts, int size) {
        byte[] statement = statement(parts, size);
        return () -> {
            Fingerprinter fingerprinter = new Fingerprinter();
            NormalizedStatement shape = fingerprinter.statement(statement, 0, statement.length);
            fingerprinter.accounts(shape, statement, 0, statement.length, "a");
            fingerprinter.tags(statement);
        };
    }

    private static byte[] statement(String[] parts, int size) {
        byte[] first = parts[0].getBytes(StandardCharsets.ISO_8859_1);
        byte[] repeated = parts[1].getBytes(StandardCharsets.ISO_8859_1);
        byte[] statement = new byte[size];
        System.arraycopy(first, 0, statement, 0, first.length);
        for (int i = first.length; i < size; i++) {
            statement[i] = repeated[(i - first.length) % repeated.length];
        }
        return statement;
    }
}
