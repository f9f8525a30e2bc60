package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.flag.EventFlag;
import io.tailrace.formats.LogWriter.Names;
import io.tailrace.formats.NamedEntries.Ambiguity;
import io.tailrace.formats.NamedEntries.Stated;
import io.tailrace.framing.LogFormat;
import io.tailrace.testing.PropertyTestBudget;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A client without an account chooses the user and the database of a refused login, and often its host. Whatever they are,
 * the entry is framed, the next one is unharmed, and the names are read as the server had them, except for {@link
 * #AMBIGUITIES}. A new format needs a login in {@link LoginWriters}, or a reason in {@link #WITHOUT_LOGINS}.
 */
class NamesInLoginsTest {

    /** Formats without logins, with the reason. */
    private static final Map<String, String> WITHOUT_LOGINS =
            Map.of("mysql-slow", "a login is no statement: its names are those of the statements that follow");

    private static final String STATEMENT = "SELECT 2";

    /** Length of the longest name of a database, in characters. */
    private static final int LONGEST_NAME = 64;

    private static final Pattern LOGIN = Pattern.compile("(?i)(failed[_ ])?(connect|login)|change[_ ]?user");
    private static final Pattern LIKE_A_HOST = Pattern.compile("@\\S* on ");

    private static final List<Ambiguity> AMBIGUITIES = List.of(
            new Ambiguity(
                    Set.of("mariadb-audit", "mariadb-audit-syslog", "aurora-audit"),
                    names -> NamedEntries.MARIA_DB_ANCHOR
                            .matcher(',' + names.user() + ',')
                            .find(),
                    outcome -> EventFlag.USER_AMBIGUOUS.isIn(NamedEntries.flags(outcome)),
                    false,
                    "neither user nor database is quoted: a user may contain the end of a login, but no account has such a name"),
            Ambiguity.OF_SYSLOG,
            Ambiguity.OF_LONG_NAMES,
            new Ambiguity(
                    Set.of("mysql-general"),
                    names -> LIKE_A_HOST.matcher(names.database()).find(),
                    outcome -> outcome.code() == null,
                    false,
                    "a user may contain @ and blanks, so the last @host on is decisive"));

    @Test
    void everyFormatHasLoginsOrAReason() throws IOException {
        for (LogWriter writer : LogWriter.all()) {
            assertThat(writer.login() == null)
                    .as("%s has no login: add one to LoginWriters, or the reason to WITHOUT_LOGINS", writer)
                    .isEqualTo(WITHOUT_LOGINS.containsKey(writer.format()));
            boolean inGolden = NamedEntries.inGolden(writer.logFormat()).anyMatch(NamesInLoginsTest::isLogin);
            assertThat(inGolden && writer.login() == null)
                    .as("golden inputs of %s contain a login, and LoginWriters writes none", writer)
                    .isFalse();
        }
    }

    private static boolean isLogin(Parsed.Outcome outcome) {
        if (outcome.event() instanceof ErrorEvent event) {
            return event.getDetails().containsKey("using_password");
        }
        return outcome.event() instanceof AuditEvent event
                && event.getEventClass().equals("connection")
                && LOGIN.matcher(event.getCommand()).matches();
    }

    static Stream<LogWriter> writers() {
        return LogWriter.all().stream().filter(writer -> writer.login() != null);
    }

    @ParameterizedTest
    @MethodSource("writers")
    void aNameInALoginHarmsNoEntry(LogWriter writer) {
        List<NamedEntries> kinds = Stream.of(true, false)
                .filter(refused -> !writer.login().of(Names.USUAL, refused).isEmpty())
                .map(refused -> entries(writer, refused))
                .toList();
        for (NamedEntries entries : kinds) {
            for (String name : names(writer)) {
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
        }
        NamedEntries.assertAmbiguitiesAreNeeded(kinds);
    }

    /** MySQL cuts or refuses longer names; the framer of the general log stores no longer ones. */
    private static List<String> names(LogWriter writer) {
        boolean any = !writer.format().equals("mysql-general");
        return AttackerNames.of(writer).stream()
                .filter(name -> any || name.length() <= LONGEST_NAME)
                .toList();
    }

    /** A client that guesses a password chooses the database, not the name of the account or the host. */
    @ParameterizedTest
    @MethodSource("writers")
    void aDatabaseLikeALoginHidesNeitherAccountNorHost(LogWriter writer) {
        for (String database :
                List.of("x,h,1,2,CONNECT,d", "x,h,1,2,FAILED_CONNECT,d,,1045", "x,h,1,2,QUERY,d,'a',0")) {
            Names names = new Names("root", "10.0.0.9", database);
            String login = writer.login().of(names, true);
            Stated read =
                    Stated.of(NamedEntries.outcomes(writer.logFormat(), login).get(0));
            assertThat(read.user()).as(login).isEqualTo("root");
            assertThat(read.client()).as(login).isEqualTo("10.0.0.9");
        }
    }

    private static NamedEntries entries(LogWriter writer, boolean refused) {
        return new NamedEntries(
                writer,
                names -> writer.login().of(names, refused),
                writer.record().apply(STATEMENT),
                AMBIGUITIES);
    }

    @ParameterizedTest
    @MethodSource("writers")
    void aWriterWritesTheNamesThatLoginsContain(LogWriter writer) throws IOException {
        NamedEntries.assertWritesNamesOfGolden(
                writer,
                writer.login().of(NamedEntries.UNUSUAL, true),
                outcome -> isLogin(outcome) && isRefused(outcome));
        String accepted = writer.login().of(NamedEntries.UNUSUAL, false);
        if (!accepted.isEmpty()) {
            NamedEntries.assertWritesNamesOfGolden(
                    writer, accepted, outcome -> isLogin(outcome) && !isRefused(outcome));
        }
    }

    private static boolean isRefused(Parsed.Outcome outcome) {
        return !(outcome.event() instanceof AuditEvent event) || event.getStatus() != 0;
    }

    /** Servers write the names of a connection once into the general log: with its login. */
    @Test
    void statementsInheritTheNamesOfALoginInTheGeneralLog() {
        LogWriter general = writers()
                .filter(writer -> writer.format().equals("mysql-general"))
                .findFirst()
                .orElseThrow();
        for (String name : Stream.concat(
                        names(general).stream(), Stream.of("a on b", "a using b", "a as b", "a@b on c", "a@b", " on x"))
                .toList()) {
            checkInherited(general, name, "d");
            if (!LIKE_A_HOST.matcher(name).find()) {
                checkInherited(general, "root", name);
                checkInherited(general, name, name);
            }
        }
    }

    private static void checkInherited(LogWriter general, String user, String database) {
        String file = "2026-11-21T02:49:03.100000Z\t    8 Connect\t" + user + "@localhost on " + database
                + " using Socket\n" + general.record().apply(STATEMENT);
        assertThat(NamedEntries.outcomes(general.logFormat(), file))
                .extracting(Stated::of)
                .as("login and statement in:%n%s", file)
                .containsExactly(
                        new Stated(user, "localhost", database, "", ""),
                        new Stated(user, "localhost", database, STATEMENT, "select ?"));
    }

    /** Records of a connection contain the name alone, in the same member in which statements have a longer text. */
    @Test
    void theNameOfALoginIsNotReadAsTheAccountOfAStatement() {
        String name = "root[root] @ localhost []";
        String record = "{\"audit_record\":{\"name\":\"Connect\",\"timestamp\":\"2026-11-21T02:50:38 UTC\",\"user\":\""
                + name + "\",\"priv_user\":\"\",\"status\":1045,\"host\":\"h\"}}\n";
        LogFormat format = new FormatRegistry().named("percona-audit-json").orElseThrow();
        assertThat(Stated.of(NamedEntries.outcomes(format, record).get(0)).user())
                .isEqualTo(name);
    }
}
