package io.tailrace.flink.parsing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.tailrace.event.DeadLetter;
import io.tailrace.event.Fingerprint;
import io.tailrace.event.LedgerEntry;
import io.tailrace.event.PostingKind;
import io.tailrace.event.QueryEvent;
import io.tailrace.event.QuerySample;
import io.tailrace.event.Stage;
import io.tailrace.event.StatementPlan;
import io.tailrace.flink.framing.EntryBlock;
import io.tailrace.flink.framing.EntryBlockWriter;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.LogOrigin;
import io.tailrace.reassembly.FramedEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ParseOperatorTest {

    private static final Instant NOW = Instant.parse("2026-06-15T12:00:00Z");
    private static final Duration RETENTION = Duration.ofDays(92);

    private OneInputStreamOperatorTestHarness<EntryBlock, QueryEvent> operator;

    @BeforeEach
    void open() throws Exception {
        ParserConfig settings = new ParserConfig(
                FormatRegistry::new,
                new AcceptedTimeRange(RETENTION),
                new AcceptedTimeRange(RETENTION),
                new AcceptedTimeRange(RETENTION),
                "test");
        operator = new OneInputStreamOperatorTestHarness<>(new ParseOperator(settings), 1, 1, 0);
        operator.open();
        operator.setProcessingTime(NOW.toEpochMilli());
    }

    @AfterEach
    void close() throws Exception {
        operator.close();
    }

    @Test
    void anEntryBecomesAnEventWithItsFingerprintAndASample() throws Exception {
        send(entry(1000, NOW, 0.5));
        QueryEvent event = operator.extractOutputValues().get(0);
        assertThat(event.getQueryTime()).isEqualTo(0.5);
        assertThat(event.getEntryOffset()).isEqualTo(1000);
        assertThat(side(ParseOutputs.FINGERPRINTS)).singleElement().satisfies(fingerprint -> {
            assertThat(fingerprint.getFingerprint()).isEqualTo("select ?");
            assertThat(fingerprint.getQueryId()).isEqualTo(event.getQueryId());
            assertThat(event.getFingerprint()).isEqualTo(fingerprint.getFingerprint());
        });
        assertThat(side(ParseOutputs.SAMPLES))
                .extracting(QuerySample::getStatement)
                .containsExactly("SELECT 42");
    }

    @Test
    void postingsAreSummedUpAndLeaveBeforeTheBarrier() throws Exception {
        FramedEntry first = entry(0, NOW, 0.5);
        send(first);
        send(entry(5000, NOW, 0.5));
        send(entry(9000, NOW.minus(Duration.ofDays(3650)), 0.5));
        assertThat(side(ParseOutputs.POSTINGS)).isEmpty();
        operator.prepareSnapshotPreBarrier(1);
        List<LedgerEntry> postings = side(ParseOutputs.POSTINGS);
        assertThat(postings).extracting(LedgerEntry::getStage).containsOnly(Stage.PARSER);
        LedgerEntry events = posting(postings, PostingKind.EVENT);
        assertThat(events.getCount()).isEqualTo(2);
        assertThat(events.getBytes()).isEqualTo(2L * first.bytes().length);
        assertThat(events.getFromOffset()).isZero();
        LedgerEntry dead = posting(postings, PostingKind.DEAD_LETTER);
        assertThat(dead.getDetail()).isEqualTo("TIME_OUT_OF_RANGE");
        assertThat(dead.getCount()).isEqualTo(1);
        operator.prepareSnapshotPreBarrier(2);
        assertThat(side(ParseOutputs.POSTINGS)).hasSize(2);
    }

    @Test
    void timesOutsideTheTableAreDeadLetters() throws Exception {
        send(entry(0, Instant.parse("2014-01-01T00:00:00Z"), 0.5));
        send(entry(1, Instant.parse("2040-01-01T00:00:00Z"), 0.5));
        send(entry(2, NOW.minus(RETENTION).plusSeconds(60), 0.5));
        send(entry(3, NOW.plus(Duration.ofHours(23)), 0.5));
        assertThat(side(ParseOutputs.DEAD_LETTERS))
                .extracting(DeadLetter::getCode, DeadLetter::getEntryOffset)
                .containsExactly(tuple("TIME_OUT_OF_RANGE", 0L), tuple("TIME_OUT_OF_RANGE", 1L));
        assertThat(operator.extractOutputValues()).hasSize(2);
    }

    @Test
    void whatIsNoEntryIsADeadLetterWithItsBytes() throws Exception {
        FramedEntry broken = withText(entry(7, NOW, 0.5), "no header\n");
        send(broken);
        assertThat(side(ParseOutputs.DEAD_LETTERS)).singleElement().satisfies(letter -> {
            assertThat(letter.getStage()).isEqualTo(Stage.PARSER);
            assertThat(letter.getRaw().remaining()).isEqualTo(broken.bytes().length);
            assertThat(letter.getSeenAt()).isEqualTo(NOW);
        });
    }

    @Test
    void anUnknownFormatIsADeadLetter() throws Exception {
        FramedEntry entry = entry(0, NOW, 0.5);
        send(new FramedEntry(
                new LogOrigin("c", "i", "s", "oracle", "UTC", "l"),
                "l",
                1,
                0,
                entry.bytes(),
                new EntryContext("", "", "", false, false, false),
                false));
        assertThat(side(ParseOutputs.DEAD_LETTERS))
                .extracting(DeadLetter::getCode)
                .containsExactly(DeadLetterCode.UNKNOWN_FORMAT.name());
    }

    /** Rows with the id of the previous rule set must be found; other statements have no second id. */
    @Test
    void anIdByThePreviousRulesGoesOutWithTheFingerprint() throws Exception {
        send(entry(0, NOW, 0.5));
        for (String account : List.of("'app1'@'%'", "'app1'@'%'", "app1@'%'", "`app1`@`%`")) {
            send(withStatement(entry(1, NOW, 0.5), "DROP USER " + account));
        }
        List<Fingerprint> fingerprints = side(ParseOutputs.FINGERPRINTS);
        assertThat(fingerprints)
                .extracting(Fingerprint::getFingerprint)
                .containsExactly("select ?", "drop user `app1`@`%`", "drop user `app1`@`%`", "drop user `app1`@`%`");
        assertThat(fingerprints.get(0).getPreviousQueryIds()).isEmpty();
        assertThat(fingerprints.subList(1, 4))
                .extracting(Fingerprint::getPreviousQueryIds)
                .doesNotHaveDuplicates()
                .allSatisfy(ids -> assertThat(ids).hasSize(1));
    }

    @Test
    void statementsArePassedOnNowAndThen() throws Exception {
        send(entry(0, NOW, 0.5));
        send(entry(1, NOW, 0.6));
        assertThat(side(ParseOutputs.SAMPLES)).hasSize(1);
        send(entry(2, NOW, 1.5));
        assertThat(side(ParseOutputs.SAMPLES)).hasSize(2);
        operator.setProcessingTime(NOW.plus(Duration.ofMinutes(10)).toEpochMilli());
        send(entry(3, NOW, 0.1));
        assertThat(side(ParseOutputs.SAMPLES)).hasSize(3);
        assertThat(side(ParseOutputs.FINGERPRINTS)).hasSize(1);
        operator.setProcessingTime(NOW.plus(Duration.ofHours(1)).toEpochMilli());
        send(entry(4, NOW, 0.1));
        assertThat(side(ParseOutputs.FINGERPRINTS)).hasSize(2);
    }

    @Test
    void aPlanBesideAnExecutionIsNamedByItsEventAndPassedOnOnce() throws Exception {
        send(explained(0, "ref", "customer"));
        send(explained(1, "ref", "customer"));
        send(explained(2, "ALL", "NULL"));
        List<QueryEvent> events = operator.extractOutputValues();
        assertThat(events.get(0).getPlanHash())
                .matches("[0-9A-F]{16}")
                .isEqualTo(events.get(1).getPlanHash());
        assertThat(events.get(2).getPlanHash())
                .matches("[0-9A-F]{16}")
                .isNotEqualTo(events.get(0).getPlanHash());
        assertThat(side(ParseOutputs.PLANS))
                .extracting(StatementPlan::getPlanHash, StatementPlan::getAccessTypes, StatementPlan::getIndexes)
                .containsExactly(
                        tuple(events.get(0).getPlanHash(), List.of("ref"), List.of("customer")),
                        tuple(events.get(2).getPlanHash(), List.of("ALL"), List.of("")));
        operator.setProcessingTime(NOW.plus(Duration.ofHours(1)).toEpochMilli());
        send(explained(3, "ref", "customer"));
        assertThat(side(ParseOutputs.PLANS)).hasSize(3);
    }

    /** Returns an entry of MariaDB 10.11 with log_slow_verbosity=explain. */
    private static FramedEntry explained(long offset, String access, String index) {
        String explain = "#\n# explain: id\tselect_type\ttable\ttype\tpossible_keys\tkey\tkey_len\tref\trows\tr_rows\t"
                + "filtered\tr_filtered\tExtra\n# explain: 1\tSIMPLE\torders\t" + access + "\tcustomer\t" + index
                + "\t4\tconst\t5\t5.00\t100.00\t100.00\t\n#\nSET timestamp=";
        FramedEntry entry = entry(offset, NOW, 0.5);
        return withText(entry, new String(entry.bytes(), ISO_8859_1).replace("SET timestamp=", explain));
    }

    @Test
    void aBackfilledEntryIsMarked() throws Exception {
        FramedEntry e = entry(0, NOW, 0.5);
        send(new FramedEntry(
                new LogOrigin(
                        e.origin().cluster(),
                        e.origin().instance(),
                        e.origin().source(),
                        e.origin().format(),
                        e.origin().zone(),
                        e.origin().log()),
                e.path(),
                e.generation(),
                e.offset(),
                e.bytes(),
                new EntryContext("", "", "", false, false, false),
                true));
        assertThat(operator.extractOutputValues().get(0).getFlags()).contains("backfilled");
    }

    @Test
    void aMessageOfAnErrorLogIsAnErrorEventAndPosted() throws Exception {
        FramedEntry entry = withText(
                new FramedEntry(
                        new LogOrigin("c", "db-1", "errorlog", "mysql-error", "UTC", "/e"),
                        "/e",
                        1,
                        0,
                        new byte[0],
                        new EntryContext("", "", "", false, false, false),
                        true),
                NOW + " 8 [Note] Access denied for user 'app'@'10.0.0.7' (using password: YES)\n");
        send(entry);
        operator.prepareSnapshotPreBarrier(1);
        assertThat(side(ParseOutputs.ERROR_EVENTS)).singleElement().satisfies(event -> {
            assertThat(event.getKind()).isEqualTo("access_denied");
            assertThat(event.getUser() + '@' + event.getIp()).isEqualTo("app@10.0.0.7");
        });
        assertThat(posting(side(ParseOutputs.POSTINGS), PostingKind.EVENT).getBytes())
                .isEqualTo(entry.bytes().length);
    }

    private void send(FramedEntry entry) throws Exception {
        List<EntryBlock> blocks = new ArrayList<>();
        EntryBlockWriter writer = new EntryBlockWriter(blocks::add);
        writer.add(entry);
        writer.flush();
        operator.processElement(blocks.get(0), 0);
    }

    private <T> List<T> side(OutputTag<T> tag) {
        var records = operator.getSideOutput(tag);
        return records == null
                ? List.of()
                : records.stream().map(record -> record.getValue()).toList();
    }

    private static LedgerEntry posting(List<LedgerEntry> postings, PostingKind kind) {
        return postings.stream()
                .filter(posting -> posting.getKind() == kind)
                .findFirst()
                .orElseThrow();
    }

    private static FramedEntry entry(long offset, Instant time, double seconds) {
        String text = "# Time: " + time.plusNanos(1000) + "\n# User@Host: app[app] @ web-1 [10.0.0.1]  Id:    41\n"
                + "# Query_time: " + seconds + "  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 2\n"
                + "SET timestamp=" + time.getEpochSecond() + ";\nSELECT 42;\n";
        return withText(
                new FramedEntry(
                        new LogOrigin("c", "db-1", "slowlog", "mysql-slow", "UTC", "/s"),
                        "/s",
                        1,
                        offset,
                        new byte[0],
                        new EntryContext("", "", "", false, false, false),
                        false),
                text);
    }

    private static FramedEntry withStatement(FramedEntry entry, String statement) {
        return withText(entry, new String(entry.bytes(), ISO_8859_1).replace("SELECT 42", statement));
    }

    private static FramedEntry withText(FramedEntry e, String text) {
        return new FramedEntry(
                new LogOrigin(
                        e.origin().cluster(),
                        e.origin().instance(),
                        e.origin().source(),
                        e.origin().format(),
                        e.origin().zone(),
                        e.origin().log()),
                e.path(),
                e.generation(),
                e.offset(),
                text.getBytes(ISO_8859_1),
                new EntryContext("", "", "", false, false, false),
                false);
    }
}
