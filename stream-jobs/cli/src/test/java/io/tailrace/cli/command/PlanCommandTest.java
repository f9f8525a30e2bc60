package io.tailrace.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.cli.Main;
import io.tailrace.cli.terminal.Terminal;
import io.tailrace.cli.terminal.TerminalCapabilities;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PlanCommandTest {

    private static final String RANGE =
            """
            {"query_block": {"select_id": 1, "cost_info": {"query_cost": "396.14"}, "ordering_operation": {
              "using_filesort": true, "table": {"table_name": "o", "access_type": "range", "key": "k_date",
              "used_key_parts": ["odate"], "rows_examined_per_scan": 1977, "filtered": "100.00",
              "attached_condition": "(`shop`.`o`.`odate` >= DATE'2024-01-01')"}}}}
            """;

    private static final String SCAN =
            """
            {"query_block": {"select_id": 1, "cost_info": {"query_cost": "4096.00"}, "table": {"table_name": "o",
              "access_type": "ALL", "rows_examined_per_scan": 40000, "filtered": "33.33",
              "attached_condition": "((`shop`.`o`.`status` = 'hunter2') and (year(`shop`.`o`.`odate`) = 2024))"}}}
            """;

    @TempDir
    private Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String input, String... arguments) {
        Terminal terminal = new Terminal(
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                new TerminalCapabilities(false, false, false, true, 100));
        return Main.run(terminal, Clock.systemUTC(), arguments);
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    private String file(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text).toString();
    }

    @Test
    void showsATreeWithFiguresWarningsAndAdvice() {
        assertThat(run(SCAN, "plan")).isZero();
        assertThat(out())
                .isEqualTo(
                        """
                        standard input:1  mysql-1 plan 3F3A60F486AE868E · cost 4,096

                                                          rows  filtered
                        o  ALL                          40,000       33%
                          full scan of 40,000 rows
                          where ((`shop`.`o`.`status` = ?) and (year(`shop`.`o`.`odate`) = ?))

                        advice
                        • o: year(odate) is compared: an index on the column cannot serve that; compare the column itself
                            reads 40,000 rows for ((`shop`.`o`.`status` = ?) and (year(`shop`.`o`.`odate`) = ?))
                        • o: no index can be used: consider one on (status)
                            reads 40,000 rows for ((`shop`.`o`.`status` = ?) and (year(`shop`.`o`.`odate`) = ?))
                        """);
        assertThat(err()).isEmpty();
    }

    @Test
    void coloursOnlyWhereTheyAreWanted() {
        run(SCAN, "plan");
        assertThat(out()).doesNotContain("\u001b");
        run(SCAN, "plan", "--color", "always");
        assertThat(out()).contains("\u001b[31mALL\u001b[0m");
    }

    @Test
    void jsonHoldsTheModelAndTheAdviceWithoutLiterals() {
        assertThat(run(SCAN, "plan", "--json")).isZero();
        assertThat(out())
                .contains("\"access_type\":\"ALL\"", "\"examined_rows\":40000", "\"kind\":\"MISSING_INDEX\"")
                .doesNotContain("hunter2", "2024");
        assertThat(out().lines()).hasSize(1);
    }

    @Test
    void hashesDoNotDependOnNumbersOrLiterals() throws IOException {
        String other = SCAN.replace("40000", "7").replace("hunter2", "x").replace("4096", "1");
        assertThat(run("", "plan", "--hash", file("a.json", SCAN), file("b.json", other)))
                .isZero();
        assertThat(out().lines().map(line -> line.split("\t")[0]).distinct()).hasSize(1);
        assertThat(out()).contains("\to:ALL\t");
    }

    @Test
    void diffListsTheChanges() throws IOException {
        assertThat(run("", "plan", "--diff", file("a.json", RANGE), file("b.json", SCAN)))
                .isEqualTo(1);
        assertThat(out()).contains("~ o  range using k_date → ALL\n", "- filesort\n");
        out.reset();
        assertThat(run(RANGE + RANGE, "plan", "--diff")).isZero();
        assertThat(out()).endsWith("no difference\n");
        assertThat(run(RANGE, "plan", "--diff")).isEqualTo(2);
        assertThat(err()).contains("--diff compares two plans, found 1");
    }

    @Test
    void findsPlansWithinAClientsOutput() {
        String vertical = "*************************** 1. row ***************************\nEXPLAIN: " + SCAN + "\n";
        String bordered = "+-----+\n| EXPLAIN |\n+-----+\n| " + RANGE.strip() + " |\n+-----+\n";
        String batch = "EXPLAIN\n{\\n  \"query_block\": {\\n \"table\": {\"table_name\": \"a\\\\\"b\"}}}\n";
        String member =
                "{\"Name\": 1, \"EXPLAIN\": \"{\\\"query_block\\\": {\\\"message\\\": \\\"No tables used\\\"}}\"}\n";
        String rows = "id\tselect_type\ttable\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tExtra\n"
                + "1\tSIMPLE\tt\tALL\tNULL\tNULL\tNULL\tNULL\t5\tUsing where; Using filesort\n";
        assertThat(run(vertical + bordered + batch + member + rows, "plan", "--hash"))
                .isZero();
        assertThat(out().lines().map(line -> line.split("\t")[1]))
                .containsExactly("o:ALL", "o:range(k_date) +filesort", "a\"b", "", "t:ALL +filesort");
        assertThat(out().lines().map(line -> line.split("\t")[2]).map(source -> source.replaceAll(".*:", "")))
                .containsExactly("2", "9", "15", "16", "17");
    }

    @Test
    void readsTheRowsOfMariaDbsSlowLog() {
        String log =
                """
                # Time: 261121  2:49:03
                # User@Host: app[app] @ web1 []
                # Query_time: 0.5  Lock_time: 0.1  Rows_sent: 1  Rows_examined: 10
                #
                # explain: id\tselect_type\ttable\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tr_rows\tfiltered\tr_filtered\tExtra
                # explain: 1\tPRIMARY\t<derived2>\tALL\tNULL\tNULL\tNULL\tNULL\t10\t5000.00\t100.00\t100.00\tUsing where
                # explain: 2\tDERIVED\to\tref\tk\tk\t5\tconst\t1\t1.00\t100.00\t100.00\tUsing temporary
                #
                SET timestamp=1795229343;
                SELECT 1;
                """;
        assertThat(run(log, "plan")).isZero();
        assertThat(out()).contains("rows plan", "<derived2>  ALL", "estimate off 500x", "o  ref using k");
    }

    @Test
    void aBracketInAStatementHidesNoPlanBehindIt() {
        String log = "INSERT INTO t VALUES ('{\"a\": ');\n# explain: 1\tSIMPLE\tt\tALL\tNULL\tNULL\tNULL\tNULL\t5\t\n";
        assertThat(run(log, "plan", "--hash")).isZero();
        assertThat(out()).contains("\tt:ALL\t");
    }

    @Test
    void errorsNameFileLineAndByte() throws IOException {
        String file = file("a.txt", "x\nERROR 1064 (42000) at line 1: syntax\n{\"a\": 1}\n");
        assertThat(run("", "plan", file)).isEqualTo(1);
        assertThat(err())
                .contains(
                        "a.txt:2: byte 2: not a plan but the server's ERROR 1064 (42000) at line 1: syntax\n",
                        "a.txt:3: byte 39: a JSON object with none of query_block, query_plan and operation");
        assertThat(run("", "plan", file("empty", ""))).isEqualTo(1);
        assertThat(err()).contains("empty: no plan in 0 bytes");
        assertThat(run("", "plan", directory + "/none")).isEqualTo(1);
        assertThat(run(SCAN, "plan", "--json", "--hash")).isEqualTo(2);
    }

    @Test
    void brokenDocumentsAreShownWithWhatWasRepaired() {
        assertThat(run(SCAN.substring(0, 220), "plan")).isZero();
        assertThat(out()).contains("not JSON, repaired: 1 TRUNCATED; first at byte 220");
    }

    @Test
    void noLiteralReachesTheTerminal() {
        String unescaped = SCAN.replace("'hunter2'", "'it\\'s \"hunter2\" \\\\' or 'hunter2'");
        String iterators =
                "{\"query\": \"select 'hunter2'\", \"operation\": \"Filter: (t.a = 'hunter2')\", \"access_type\":"
                        + " \"filter\", \"condition\": \"(t.a = 'hunter2')\", \"inputs\": [{\"operation\": \"New way 'hunter2'\","
                        + " \"new_member\": \"x 'hunter2'\", \"ranges\": [\"('hunter2' <= a <= 'x' y 'hunter2')\"]}]}";
        for (String option : new String[] {"--color=always", "--json", "--hash"}) {
            assertThat(run(SCAN + unescaped + iterators, "plan", option)).isZero();
        }
        assertThat(run(SCAN + iterators, "plan", "--diff")).isEqualTo(1);
        assertThat(out()).doesNotContain("hunter2");
    }

    @Test
    void aThousandLevelsAreShown() {
        int levels = 1000;
        String plan = "{\"operation\":\"Limit: 1 row(s)\",\"access_type\":\"limit\",\"inputs\":[".repeat(levels)
                + "{\"operation\":\"Table scan on t\",\"access_type\":\"table\",\"table_name\":\"t\"}"
                + "]}".repeat(levels);
        assertThat(run(plan, "plan")).isZero();
        assertThat(out().lines().filter(line -> line.contains("limit"))).hasSize(levels);
    }

    @Test
    void namesDoNotSteerTheTerminal() {
        run(SCAN.replace("\"o\"", "\"\\u001b[2J\\u202eo\""), "plan");
        assertThat(out()).contains("\\u001b[2J\\u202eo  ALL").doesNotContain("\u001b", "\u202e");
    }
}
