package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.client.ClientAddress;
import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.flag.EventFlag;
import io.tailrace.formats.LogWriter.Names;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Checks two entries of a log, of which the first has given names, and notes which ambiguities occurred. */
final class NamedEntries {

    /** What follows the names in a line of server_audit: connection, query and operation. */
    static final Pattern MARIA_DB_ANCHOR = Pattern.compile(",\\d+,\\d+,[A-Z_]+,");

    /**
     * Names that a format does not distinguish from other text, because its server does not escape them.
     *
     * @param names tests the names
     * @param permitted tests what was read of an entry with these names
     * @param hides whether the entry may include the next one; a later one is unharmed
     */
    record Ambiguity(
            Set<String> formats,
            Predicate<Names> names,
            Predicate<Parsed.Outcome> permitted,
            boolean hides,
            String reason) {

        private static final Pattern SYSLOG_ESCAPE = Pattern.compile("#0[0-3][0-7]");

        static final Ambiguity OF_SYSLOG = new Ambiguity(
                Set.of("percona-audit-syslog"),
                names -> SYSLOG_ESCAPE
                        .matcher(names.user() + '\n' + names.host() + '\n' + names.database())
                        .find(),
                outcome -> EventFlag.REPAIRED.isIn(flags(outcome)),
                false,
                "daemons write a line feed as #012, and a number sign as it is");
        static final Ambiguity OF_LONG_NAMES = new Ambiguity(
                Set.of("percona-audit-filter-json", "mysql-enterprise-audit-json"),
                names -> names.user().endsWith("] @ " + names.host() + " []"),
                outcome -> outcome.code() == null,
                false,
                "the first releases of Percona's filter write priv_user[user] @ host [ip] in place of the name");
    }

    /** What an entry states. The fingerprint of a statement in an error message is its id. */
    record Stated(String user, String client, String database, String statement, String fingerprint) {

        static Stated of(Parsed.Outcome outcome) {
            if (outcome.event() instanceof AuditEvent event) {
                String client = client(event.getHost(), event.getIp());
                return new Stated(
                        event.getUser(), client, event.getDatabase(), outcome.statement(), outcome.fingerprint());
            }
            if (outcome.event() instanceof QueryEvent event) {
                String client = client(event.getHost(), event.getIp());
                return new Stated(
                        event.getUser(), client, event.getDatabase(), outcome.statement(), outcome.fingerprint());
            }
            if (outcome.event() instanceof ErrorEvent event) {
                String queryId = event.getDetails().getOrDefault("query_id", "");
                String client = client(event.getHost(), event.getIp());
                return new Stated(event.getUser(), client, event.getDatabase(), outcome.statement(), queryId);
            }
            return new Stated("", "", "", outcome.code() + ": " + outcome.message(), "");
        }

        /** Returns the same with other names, if the entry has names. */
        Stated named(Names names) {
            ClientAddress client = ClientAddress.of(names.host(), "");
            return new Stated(
                    user.isEmpty() ? "" : names.user(),
                    this.client.isEmpty() ? "" : client(client.host(), client.address()),
                    database.isEmpty() ? "" : names.database(),
                    statement,
                    fingerprint);
        }

        /** Returns these names and those that an entry does not inherit. */
        private Stated and(Parsed.Outcome outcome, EntryContext context) {
            Stated one = of(outcome);
            boolean named = context.account().isEmpty();
            boolean inherits = EventFlag.DATABASE_INHERITED.isIn(flags(outcome));
            return new Stated(
                    user + (named ? one.user : ""),
                    client + (named ? one.client : ""),
                    database + (inherits ? "" : one.database),
                    "",
                    "");
        }

        private static String client(String host, String ip) {
            return host.isEmpty() ? ip : host;
        }
    }

    private final LogWriter writer;
    private final Function<Names, String> firstEntry;
    private final String secondEntry;
    private final List<Ambiguity> ambiguities;
    private final Stated first;
    private final Stated second;
    private final Set<Ambiguity> needed = new HashSet<>();

    /**
     * Creates a check.
     *
     * @param first creates the first entry
     * @param second the entry that is unharmed
     * @param ambiguities of all formats
     */
    NamedEntries(LogWriter writer, Function<Names, String> first, String second, List<Ambiguity> ambiguities) {
        this.writer = writer;
        this.firstEntry = first;
        this.secondEntry = second;
        this.ambiguities = ambiguities.stream()
                .filter(each -> each.formats().contains(writer.format()))
                .toList();
        this.first = only(first.apply(Names.USUAL));
        this.second = only(second);
    }

    private Stated only(String entry) {
        List<Parsed.Outcome> outcomes = outcomes(writer.logFormat(), entry);
        assertThat(outcomes).as("one entry in:%n%s", entry).hasSize(1);
        return Stated.of(outcomes.get(0));
    }

    void check(Names names) {
        String file = firstEntry.apply(names) + secondEntry;
        List<Parsed.Outcome> outcomes = outcomes(writer.logFormat(), file);
        List<Stated> found = outcomes.stream().map(Stated::of).toList();
        List<Stated> expected = List.of(first.named(names), second);
        Ambiguity ambiguity = ambiguities.stream()
                .filter(each -> each.names().test(names))
                .findFirst()
                .orElse(null);
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

    /** Verifies that each ambiguity of the format occurred in one of the checks. */
    static void assertAmbiguitiesAreNeeded(List<NamedEntries> checks) {
        Set<Ambiguity> needed = new HashSet<>();
        checks.forEach(check -> needed.addAll(check.needed));
        assertThat(needed)
                .as("ambiguities of %s that occurred: remove the others", checks.get(0).writer)
                .containsExactlyInAnyOrderElementsOf(checks.get(0).ambiguities);
    }

    private void assertNextIsFound(String file, List<Stated> found, boolean hides) {
        if (!hides) {
            assertThat(found.subList(1, found.size()))
                    .as("entries after the first in:%n%s", file)
                    .containsExactly(second);
            return;
        }
        String more = file + secondEntry.repeat(4);
        List<Parsed.Outcome> outcomes = outcomes(writer.logFormat(), more);
        assertThat(Stated.of(outcomes.get(outcomes.size() - 1)))
                .as("the last entry of:%n%s", more)
                .isEqualTo(second);
    }

    static List<String> flags(Parsed.Outcome outcome) {
        if (outcome.event() instanceof QueryEvent event) {
            return event.getFlags();
        }
        return outcome.event() instanceof AuditEvent event ? event.getFlags() : List.of();
    }

    static List<Parsed.Outcome> outcomes(LogFormat format, String file) {
        FramedLog log = FramedLog.of(format, file.getBytes(StandardCharsets.UTF_8));
        assertThat(log.rejections()).as("rejections in:%n%s", file).isEmpty();
        return Parsed.of(format, log);
    }

    /** Names that no golden input contains. */
    static final Names UNUSUAL = new Names("zzuser", "zzhost", "zzdatabase");

    /**
     * Verifies that an entry with {@link #UNUSUAL} contains each name that entries of the format contain.
     *
     * @param which the entries of the same kind in the golden inputs
     */
    static void assertWritesNamesOfGolden(LogWriter writer, String entry, Predicate<Parsed.Outcome> which)
            throws IOException {
        Stated written = Stated.of(outcomes(writer.logFormat(), entry).get(0));
        Stated golden = namesInGolden(writer.logFormat(), which);
        assertIsWritten(writer, "user", written.user(), UNUSUAL.user(), golden.user());
        assertIsWritten(writer, "host", written.client(), UNUSUAL.host(), golden.client());
        assertIsWritten(writer, "database", written.database(), UNUSUAL.database(), golden.database());
    }

    private static void assertIsWritten(LogWriter writer, String name, String written, String unusual, String golden) {
        assertThat(written)
                .as("the %s of an entry of %s. Write the argument, as the server does", name, writer)
                .isIn(golden.isEmpty() ? List.of("", unusual) : List.of(unusual));
    }

    /** Returns any names that entries in the golden inputs contain themselves; a context shows which they inherit. */
    private static Stated namesInGolden(LogFormat format, Predicate<Parsed.Outcome> which) throws IOException {
        Stated all = new Stated("", "", "", "", "");
        for (Path golden : GoldenInputs.cases(format)) {
            FramedLog log = FramedLog.of(format, Files.readAllBytes(golden.resolve("input.log")));
            List<Parsed.Outcome> outcomes = Parsed.of(format, log);
            for (int i = 0; i < outcomes.size(); i++) {
                if (which.test(outcomes.get(i))) {
                    all = all.and(outcomes.get(i), log.entries().get(i).context());
                }
            }
        }
        return all;
    }

    /** Returns all reports of the golden inputs of a format. */
    static Stream<Parsed.Outcome> inGolden(LogFormat format) throws IOException {
        List<Parsed.Outcome> all = new ArrayList<>();
        for (Path golden : GoldenInputs.cases(format)) {
            all.addAll(Parsed.of(format, FramedLog.of(format, Files.readAllBytes(golden.resolve("input.log")))));
        }
        return all.stream();
    }
}
