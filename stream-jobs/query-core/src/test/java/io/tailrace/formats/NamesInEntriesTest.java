package io.tailrace.formats;

import io.tailrace.event.AuditEvent;
import io.tailrace.flag.EventFlag;
import io.tailrace.formats.LogWriter.Names;
import io.tailrace.formats.NamedEntries.Ambiguity;
import io.tailrace.formats.NamedEntries.Stated;
import io.tailrace.testing.PropertyTestBudget;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A client chooses the name of its user and often of its host, and an account that may create databases chooses theirs.
 * Whatever the names are, the entry of a statement that contains them is framed, and the next entry is unharmed. Names and
 * statement are read as the server had them, except for {@link #AMBIGUITIES}. A new format is covered without a change,
 * because it needs a {@link LogWriter}, which must write user, host and database if entries of the format contain them.
 */
class NamesInEntriesTest {

    private static final String STATEMENT = "SELECT 'a', \"b\", `c` FROM t WHERE d = 1 AND e <> 'it''s'";
    private static final String NEXT_STATEMENT = "SELECT 2";

    private static final List<Ambiguity> AMBIGUITIES = List.of(
            new Ambiguity(
                    Set.of("mariadb-audit", "mariadb-audit-syslog"),
                    NamesInEntriesTest::mayStartAStatement,
                    outcome -> EventFlag.USER_AMBIGUOUS.isIn(NamedEntries.flags(outcome)),
                    false,
                    "only statements are quoted, so a comma and a quote in the database may start one"),
            new Ambiguity(
                    Set.of("aurora-audit"),
                    NamesInEntriesTest::mayStartAStatement,
                    outcome -> outcome.code() != null || EventFlag.USER_AMBIGUOUS.isIn(NamedEntries.flags(outcome)),
                    false,
                    "the same, and the writer's line is cut within the statement"),
            Ambiguity.OF_SYSLOG,
            Ambiguity.OF_LONG_NAMES,
            new Ambiguity(
                    Set.of("mysql-error"),
                    names -> names.database().contains("'. Query: '"),
                    outcome -> outcome.code() == null,
                    true,
                    "messages quote without escapes: lines that follow an open quote may belong to it"),
            new Ambiguity(
                    Set.of("mysql-error"),
                    names -> names.database().contains(" query: "),
                    outcome -> outcome.code() == null,
                    false,
                    "a statement follows the first such text in a message"));

    private static boolean mayStartAStatement(Names names) {
        return names.database().contains(",'")
                || names.database().contains(",")
                        && NamedEntries.MARIA_DB_ANCHOR
                                .matcher(names.user() + ',' + names.database() + ',')
                                .find();
    }

    private static NamedEntries entries(LogWriter writer) {
        return new NamedEntries(
                writer,
                names -> writer.entry().of(STATEMENT, names),
                writer.record().apply(NEXT_STATEMENT),
                AMBIGUITIES);
    }

    @ParameterizedTest
    @MethodSource("io.tailrace.formats.LogWriter#all")
    void aNameHarmsNoEntry(LogWriter writer) {
        NamedEntries entries = entries(writer);
        for (String name : AttackerNames.of(writer)) {
            String host = AttackerNames.host(writer, name);
            entries.check(new Names(name, "localhost", "d"));
            entries.check(new Names("root", host, "d"));
            entries.check(new Names("root", "localhost", name));
            entries.check(new Names(name, host, name));
        }
        for (int seed = 0; seed < PropertyTestBudget.of(200, 5_000); seed++) {
            Random random = new Random(seed);
            String user = AttackerNames.pieces(random);
            String database = AttackerNames.pieces(random);
            entries.check(new Names(user, AttackerNames.host(writer, AttackerNames.pieces(random)), database));
        }
        NamedEntries.assertAmbiguitiesAreNeeded(List.of(entries));
    }

    /** The golden inputs show which names the entries of a format contain; a context shows which they inherit. */
    @ParameterizedTest
    @MethodSource("io.tailrace.formats.LogWriter#all")
    void aWriterWritesTheNamesThatEntriesContain(LogWriter writer) throws IOException {
        NamedEntries.assertWritesNamesOfGolden(
                writer, writer.entry().of(STATEMENT, NamedEntries.UNUSUAL), NamesInEntriesTest::isStatement);
    }

    private static boolean isStatement(Parsed.Outcome outcome) {
        boolean other = outcome.event() instanceof AuditEvent event
                && !event.getEventClass().equals("query");
        return !other && !Stated.of(outcome).fingerprint().isEmpty();
    }
}
