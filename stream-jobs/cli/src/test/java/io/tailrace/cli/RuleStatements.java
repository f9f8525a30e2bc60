package io.tailrace.cli;

import io.tailrace.cli.DatabaseOperation.Account;
import io.tailrace.cli.DatabaseOperation.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Reads the statements that make the rules fire, from the logs of MariaDB's plugin beside them, and adds others. */
final class RuleStatements {

    private static final Instant START = Instant.parse("2026-11-21T05:00:00Z");
    private static final Pattern LOG = Pattern.compile(".*\\.fires[^/]*\\.log");
    private static final Pattern RECORD =
            Pattern.compile("(?m)^\\d{8} [\\d:]+,[^,]*,[^,]*,[^,]*,\\d+,\\d+,QUERY,[^,]*,'(.*)',(\\d+)$");
    private static final Pattern ESCAPED = Pattern.compile("\\\\(.)");

    /** Statements with values that the rules compare and that no log beside them contains. */
    private static final List<String> OTHERS = Stream.concat(
                    Stream.of(
                                    "event_scheduler",
                                    "local_infile",
                                    "log_error_verbosity",
                                    "log_raw",
                                    "log_warnings",
                                    "read_only",
                                    "require_secure_transport",
                                    "super_read_only",
                                    "system_versioning_alter_history",
                                    "system_versioning_insert_history")
                            .map(name -> "SET GLOBAL " + name + " = @value"),
                    Stream.of(
                            "SET SESSION sql_log_bin = @value",
                            "SET SESSION sql_log_off = @value",
                            "SET GLOBAL audit_log_disable = OFF",
                            "SET GLOBAL audit_log_filter_disable = OFF",
                            "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES'",
                            "UPDATE performance_schema.threads SET INSTRUMENTED = 'YES', HISTORY = 'YES'"))
            .toList();

    private static final Account ACCOUNT = new Account("app", "", "10.0.0.9");
    private static final int FIRST_CONNECTION = 1000;

    /**
     * @param status 0 or the server's error code
     * @param reads tables that it reads, as {@code database.table}; empty if they are not known
     * @param writes tables that it writes
     */
    record Statement(String text, int status, List<String> reads, List<String> writes) {

        Statement(String text, int status) {
            this(text, status, List.of(), List.of());
        }
    }

    private RuleStatements() {}

    /** Returns the different statements of a rule pack, in the order of their files, after the added ones. */
    static Collection<Statement> of(Path pack) {
        Set<Statement> statements = new LinkedHashSet<>();
        OTHERS.forEach(text -> statements.add(new Statement(text, 0)));
        try (Stream<Path> files = Files.walk(pack)) {
            List<Path> logs = files.filter(
                            file -> LOG.matcher(file.getFileName().toString()).matches())
                    .sorted()
                    .toList();
            for (Path log : logs) {
                Matcher records = RECORD.matcher(Files.readString(log));
                while (records.find()) {
                    statements.add(new Statement(unescaped(records.group(1)), Integer.parseInt(records.group(2))));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return statements;
    }

    /** Returns a login and one statement of a connection for each. */
    static List<DatabaseOperation> operations(Collection<Statement> statements) {
        List<DatabaseOperation> operations = new ArrayList<>();
        for (Statement statement : statements) {
            int connection = FIRST_CONNECTION + operations.size() / 2;
            add(operations, Kind.LOGIN, connection, new Statement(null, 0));
            add(operations, Kind.STATEMENT, connection, statement);
        }
        return operations;
    }

    private static void add(List<DatabaseOperation> operations, Kind kind, int connection, Statement statement) {
        operations.add(new DatabaseOperation(
                kind,
                START.plusSeconds(operations.size()),
                connection,
                ACCOUNT,
                "shop",
                statement.text(),
                statement.status(),
                statement.reads(),
                statement.writes()));
    }

    private static String unescaped(String text) {
        return ESCAPED.matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(found.group(1).equals("n") ? "\n" : found.group(1)));
    }
}
