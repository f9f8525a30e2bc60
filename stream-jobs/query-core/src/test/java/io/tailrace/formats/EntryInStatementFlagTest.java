package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.StatementFlags;
import io.tailrace.flag.EventFlag;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A statement with an entry of any log in a literal or comment has the flag {@code log_entry_in_text}. A new format is
 * covered without a change, because it needs a {@link LogWriter}.
 */
class EntryInStatementFlagTest {

    private static final String FLAG = EventFlag.LOG_ENTRY_IN_TEXT.wireName();

    /** Formats whose entries begin like ordinary text, with the reason. */
    private static final Map<String, String> NOT_RECOGNIZED = Map.of();

    @ParameterizedTest
    @MethodSource("io.tailrace.formats.LogWriter#all")
    void anEntryInAStatementIsFlagged(LogWriter writer) {
        for (String entry : entries(writer)) {
            for (String statement : List.of(
                    "INSERT INTO t VALUES ('x\n" + entry.replace("\\", "\\\\").replace("'", "''") + "')",
                    "SELECT \"x\n" + entry.replace("\\", "\\\\").replace("\"", "\"\"") + "\"",
                    "SELECT 1 /* x\n" + entry.replace("*/", "* /") + "*/")) {
                assertThat(StatementFlags.of(statement).contains(FLAG))
                        .as(
                                "flag of an entry of %s: add its beginning to LogEntryText, or the reason to"
                                        + " NOT_RECOGNIZED:%n%s",
                                writer, statement)
                        .isEqualTo(!NOT_RECOGNIZED.containsKey(writer.format()));
            }
        }
    }

    private static List<String> entries(LogWriter writer) {
        Stream<String> logins = writer.login() == null
                ? Stream.of()
                : Stream.of(true, false).map(refused -> writer.login().of(LogWriter.Names.USUAL, refused));
        return Stream.concat(Stream.of(writer.record().apply("DROP TABLE audit")), logins)
                .filter(entry -> !entry.isEmpty())
                .toList();
    }
}
