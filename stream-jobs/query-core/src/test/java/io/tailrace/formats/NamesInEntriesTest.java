package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.flag.EventFlag;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import io.tailrace.testing.PropertyTestBudget;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A client chooses the name of its user, and an account that may create databases chooses theirs. Whatever the names
 * are, the entry that contains them is framed, and the next entry is unharmed. Names and statement are read as the server
 * had them, except for {@link #AMBIGUITIES}. A new format is covered without a change, because it needs a
 * {@link LogWriter}, which must write user and database if entries of the format contain them.
 */
class NamesInEntriesTest {

    private static final String STATEMENT = "SELECT 'a', \"b\", `c` FROM t WHERE d = 1 AND e <> 'it''s'";
    private static final String NEXT_STATEMENT = "SELECT 2";

    /** Texts with a meaning in one of the formats. */
    private static final List<String> PIECES = List.of(
            "'",
            "\"",
            "`",
            ",",
            "\\",
            "\t",
            "<",
            ">",
            "&",
            "[",
            "]",
            "{",
            "}",
            ";",
            "#",
            ":",
            "@",
            " ",
            "=",
            "''",
            "\"\"",
            "\",\"",
            "','",
            ",'",
            "',0",
            "\\'",
            "\\\"",
            "/>",
            "\"/>",
            "/*",
            "--",
            "&lt;",
            "&#10;",
            "{}",
            "{\"",
            "\":",
            "%s",
            "\u00e9",
            " @ ",
            "] @ ",
            " Id: 9",
            "# User@Host: root[root",
            "x[x] @ h [10.0.0.9]",
            "x[x] @ localhost []",
            "#012",
            "x,h,1,2,CONNECT,d,,0",
            ",1,2,QUERY,d,'",
            ",h,1,2,QUERY,d,'SELECT 3',0",
            "'. Query: 'b");

    private static final int MAX_PIECES = 6;

    /** Length of the longest name of a database, in characters. */
    private static final int LONGEST_NAME = 64;

    /** Their servers write names as they are: a name with a line feed is two lines, which no reader can join. */
    private static final Set<String> NAMES_AS_THEY_ARE = Set.of(
            "mariadb-audit", "mariadb-audit-syslog", "aurora-audit", "mysql-slow", "mysql-general", "mysql-error");

    private static final Pattern MARIA_DB_ANCHOR = Pattern.compile(",\\d+,\\d+,[A-Z_]+,");
    private static final Pattern SYSLOG_ESCAPE = Pattern.compile("#0[0-3][0-7]");

    /**
     * Names that a format does not distinguish from other text, because its server does not escape them.
     *
     * @param names tests user and database
     * @param permitted tests what was read of an entry with these names
     * @param hides whether the entry may include the next one; a later one is unharmed
     */
    private record Ambiguity(
            Set<String> formats,
            BiPredicate<String, String> names,
            Predicate<Parsed.Outcome> permitted,
            boolean hides,
            String reason) {}

    private static final List<Ambiguity> AMBIGUITIES = List.of(
            new Ambiguity(
                    Set.of("mariadb-audit", "mariadb-audit-syslog"),
                    NamesInEntriesTest::mayStartAStatement,
                    outcome -> EventFlag.USER_AMBIGUOUS.isIn(flags(outcome)),
                    false,
                    "only statements are quoted, so a comma and a quote in the database may start one"),
            new Ambiguity(
                    Set.of("aurora-audit"),
                    NamesInEntriesTest::mayStartAStatement,
                    outcome -> outcome.code() != null || EventFlag.USER_AMBIGUOUS.isIn(flags(outcome)),
                    false,
                    "the same, and the writer's line is cut within the statement"),
            new Ambiguity(
                    Set.of("percona-audit-syslog"),
                    (user, database) ->
                            SYSLOG_ESCAPE.matcher(user + '\n' + database).find(),
                    outcome -> EventFlag.REPAIRED.isIn(flags(outcome)),
                    false,
                    "daemons write a line feed as #012, and a number sign as it is"),
            new Ambiguity(
                    Set.of("percona-audit-filter-json", "mysql-enterprise-audit-json"),
                    (user, database) -> user.endsWith("] @ localhost []"),
                    outcome -> outcome.code() == null,
                    false,
                    "the first releases of Percona's filter write priv_user[user] @ host [ip] in place of the name"),
            new Ambiguity(
                    Set.of("mysql-error"),
                    (user, database) -> database.contains("'"),
                    outcome -> outcome.code() == null,
                    true,
                    "messages quote without escapes: lines that follow an open quote may belong to it"));

    private static boolean mayStartAStatement(String user, String database) {
        return database.contains(",'")
                || database.contains(",")
                        && MARIA_DB_ANCHOR.matcher(user + ',' + database + ',').find();
    }

    @ParameterizedTest
    @MethodSource("io.tailrace.formats.LogWriter#all")
    void aNameHarmsNoEntry(LogWriter writer) {
        TwoEntries entries = new TwoEntries(writer);
        for (String name : names(writer)) {
            entries.check(name, "d");
            entries.check("root", name);
            entries.check(name, name);
        }
        for (int seed = 0; seed < PropertyTestBudget.of(200, 5_000); seed++) {
            Random random = new Random(seed);
            entries.check(pieces(random), pieces(random));
        }
        assertThat(entries.needed)
                .as("ambiguities of %s that occurred: remove the others", writer)
                .containsExactlyInAnyOrderElementsOf(AMBIGUITIES.stream()
                        .filter(ambiguity -> ambiguity.formats().contains(writer.format()))
                        .toList());
    }

    /** The golden inputs show which names the entries of a format contain; a context shows which they inherit. */
    @ParameterizedTest
    @MethodSource("io.tailrace.formats.LogWriter#all")
    void aWriterWritesTheNamesThatEntriesContain(LogWriter writer) throws IOException {
        Stated written = stated(outcomes(writer.logFormat(), writer.entry().of(STATEMENT, "zzuser", "zzdatabase"))
                .get(0));
        Stated inGolden = namesOfGoldenStatements(writer.logFormat());
        String advice = "the %s of an entry that LogWriter writes for %s. Write the argument, as the server does";
        assertThat(written.user())
                .as(advice, "user", writer)
                .isIn(inGolden.user().isEmpty() ? List.of("", "zzuser") : List.of("zzuser"));
        assertThat(written.database())
                .as(advice, "database", writer)
                .isIn(inGolden.database().isEmpty() ? List.of("", "zzdatabase") : List.of("zzdatabase"));
    }

    /** Returns any user and any database that a statement in the golden inputs names itself; empty if none does. */
    private static Stated namesOfGoldenStatements(LogFormat format) throws IOException {
        String user = "";
        String database = "";
        for (Path golden : GoldenInputs.cases(format)) {
            FramedLog log = FramedLog.of(format, Files.readAllBytes(golden.resolve("input.log")));
            List<Parsed.Outcome> outcomes = Parsed.of(format, log);
            for (int i = 0; i < outcomes.size(); i++) {
                EntryContext context = log.entries().get(i).context();
                Stated stated = stated(outcomes.get(i));
                boolean table = outcomes.get(i).event() instanceof AuditEvent event
                        && !event.getEventClass().equals("query");
                if (table || stated.fingerprint().isEmpty()) {
                    continue;
                }
                user = context.account().isEmpty() ? user + stated.user() : user;
                boolean inherited = EventFlag.DATABASE_INHERITED.isIn(flags(outcomes.get(i)));
                database = inherited ? database : database + stated.database();
            }
        }
        return new Stated(user, database, "", "");
    }

    /** Servers write the names of a connection once into the general log: with its login. */
    @Test
    void namesOfALoginHarmNoEntryOfTheGeneralLog() {
        LogWriter general = LogWriter.all().stream()
                .filter(writer -> writer.format().equals("mysql-general"))
                .findFirst()
                .orElseThrow();
        Pattern likeAHost = Pattern.compile("@\\S* on ");
        for (String name : Stream.concat(
                        names(general).stream(), Stream.of("a on b", "a using b", "a as b", "a@b on c", "a@b", " on x"))
                .filter(name -> name.length() <= LONGEST_NAME)
                .toList()) {
            checkLogin(general, name, "d");
            if (!likeAHost.matcher(name).find()) {
                checkLogin(general, "root", name);
                checkLogin(general, name, name);
            }
        }
    }

    private static void checkLogin(LogWriter general, String user, String database) {
        String file = "2026-11-21T02:49:03.100000Z\t    8 Connect\t" + user + "@localhost on " + database
                + " using Socket\n" + general.record().apply(STATEMENT);
        assertThat(outcomes(general.logFormat(), file))
                .extracting(NamesInEntriesTest::stated)
                .as("login and statement in:%n%s", file)
                .containsExactly(
                        new Stated(user, database, "", ""),
                        new Stated(user, database, STATEMENT, new TwoEntries(general).first.fingerprint()));
    }

    /** Records of a connection contain the name alone, in the same member in which statements have a longer text. */
    @Test
    void theNameOfALoginIsNotReadAsTheAccountOfAStatement() {
        String name = "root[root] @ localhost []";
        String record = "{\"audit_record\":{\"name\":\"Connect\",\"timestamp\":\"2026-11-21T02:50:38 UTC\",\"user\":\""
                + name + "\",\"priv_user\":\"\",\"status\":1045,\"host\":\"h\"}}\n";
        LogFormat format = new FormatRegistry().named("percona-audit-json").orElseThrow();
        assertThat(stated(outcomes(format, record).get(0)).user()).isEqualTo(name);
    }

    /** Checks two entries, of which the first has the given names, and notes which ambiguities occurred. */
    private static final class TwoEntries {

        private final LogWriter writer;
        private final Stated first;
        private final Stated second;
        private final Set<Ambiguity> needed = new HashSet<>();

        TwoEntries(LogWriter writer) {
            this.writer = writer;
            this.first = only(STATEMENT);
            this.second = only(NEXT_STATEMENT);
        }

        private Stated only(String statement) {
            return stated(outcomes(writer.logFormat(), writer.record().apply(statement))
                    .get(0));
        }

        void check(String user, String database) {
            String file = writer.entry().of(STATEMENT, user, database)
                    + writer.record().apply(NEXT_STATEMENT);
            List<Parsed.Outcome> outcomes = outcomes(writer.logFormat(), file);
            List<Stated> found =
                    outcomes.stream().map(NamesInEntriesTest::stated).toList();
            List<Stated> expected = List.of(first.named(user, database), second);
            Ambiguity ambiguity = ambiguity(user, database);
            if (ambiguity == null) {
                assertThat(found).as("entries in:%n%s", file).isEqualTo(expected);
            } else if (!found.equals(expected)) {
                needed.add(ambiguity);
                assertThat(ambiguity.permitted().test(outcomes.get(0)))
                        .as("%s: %s in:%n%s", ambiguity.reason(), found, file)
                        .isTrue();
                assertNextIsFound(file, found, ambiguity.hides());
            }
        }

        private void assertNextIsFound(String file, List<Stated> found, boolean hides) {
            if (!hides) {
                assertThat(found.subList(1, found.size()))
                        .as("entries after the first in:%n%s", file)
                        .containsExactly(second);
                return;
            }
            String more = file + writer.record().apply(NEXT_STATEMENT).repeat(4);
            List<Parsed.Outcome> outcomes = outcomes(writer.logFormat(), more);
            assertThat(stated(outcomes.get(outcomes.size() - 1)))
                    .as("the last entry of:%n%s", more)
                    .isEqualTo(second);
        }

        private Ambiguity ambiguity(String user, String database) {
            return AMBIGUITIES.stream()
                    .filter(each -> each.formats().contains(writer.format()))
                    .filter(each -> each.names().test(user, database))
                    .findFirst()
                    .orElse(null);
        }
    }

    /** What an entry states. The fingerprint of a statement in an error message is its id. */
    private record Stated(String user, String database, String statement, String fingerprint) {

        /** Returns the same with other names, if the entry has names. */
        Stated named(String otherUser, String otherDatabase) {
            return new Stated(
                    user.isEmpty() ? "" : otherUser, database.isEmpty() ? "" : otherDatabase, statement, fingerprint);
        }
    }

    private static Stated stated(Parsed.Outcome outcome) {
        if (outcome.event() instanceof AuditEvent event) {
            return new Stated(event.getUser(), event.getDatabase(), outcome.statement(), outcome.fingerprint());
        }
        if (outcome.event() instanceof QueryEvent event) {
            return new Stated(event.getUser(), event.getDatabase(), outcome.statement(), outcome.fingerprint());
        }
        if (outcome.event() instanceof ErrorEvent event) {
            String queryId = event.getDetails().getOrDefault("query_id", "");
            return new Stated(event.getUser(), event.getDatabase(), outcome.statement(), queryId);
        }
        return new Stated("", "", outcome.code() + ": " + outcome.message(), "");
    }

    private static List<String> flags(Parsed.Outcome outcome) {
        if (outcome.event() instanceof QueryEvent event) {
            return event.getFlags();
        }
        return outcome.event() instanceof AuditEvent event ? event.getFlags() : List.of();
    }

    private static List<Parsed.Outcome> outcomes(LogFormat format, String file) {
        FramedLog log = FramedLog.of(format, file.getBytes(StandardCharsets.UTF_8));
        assertThat(log.rejections()).as("rejections in:%n%s", file).isEmpty();
        return Parsed.of(format, log);
    }

    /**
     * Returns the pieces and entries of all formats, alone and within a name, and names that end like the start of an
     * entry. Servers refuse a blank at the end of a name.
     */
    private static List<String> names(LogWriter writer) {
        Stream<String> entries = LogWriter.all().stream()
                .flatMap(each -> Stream.of(each.before(), each.record().apply("SELECT 3")))
                .map(entry -> entry.replace('\n', ' '));
        List<String> names = new ArrayList<>(Stream.concat(PIECES.stream(), entries)
                .flatMap(name -> Stream.of(name.stripTrailing(), "a" + name + "b"))
                .filter(name -> !name.isEmpty())
                .toList());
        String before = writer.before();
        boolean escaped = !NAMES_AS_THEY_ARE.contains(writer.format());
        for (int end = 1; end < before.length(); end++) {
            String start = "a" + before.substring(0, end);
            names.add((escaped ? start : start.replace('\n', ' ')).stripTrailing());
        }
        if (escaped) {
            names.add("a\nb");
            names.add("a\n" + writer.record().apply("SELECT 3") + "b");
        }
        return names;
    }

    private static String pieces(Random random) {
        StringBuilder name = new StringBuilder();
        for (int i = random.nextInt(MAX_PIECES); i > 0; i--) {
            name.append(PIECES.get(random.nextInt(PIECES.size())));
        }
        return name.append('x').toString();
    }
}
