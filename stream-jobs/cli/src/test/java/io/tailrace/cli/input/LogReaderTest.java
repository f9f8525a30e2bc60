package io.tailrace.cli.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.LogFormat;
import io.tailrace.framing.LogOrigin;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LogReaderTest {

    private final LogFormat format = new FormatRegistry().named("mysql-slow").orElseThrow();
    private final LogOrigin origin = new LogOrigin("", "db1", "slowlog", "mysql-slow", "UTC", "/slow.log");

    /** Stores events and dead letters as texts. */
    private static class Texts implements LogEventHandler {

        private final List<String> texts = new ArrayList<>();

        @Override
        public void query(QueryEvent event, String fingerprint, String statement) {
            texts.add(event.getEntryOffset() + " " + fingerprint);
        }

        @Override
        public void audit(AuditEvent event, String fingerprint, String statement) {
            texts.add(event.getEntryOffset() + " " + event.getCommand());
        }

        @Override
        public void error(ErrorEvent event) {
            throw new AssertionError("a slow log holds no such event");
        }

        @Override
        public void banner(String line) {
            throw new AssertionError("the log has no banner");
        }

        @Override
        public void deadLetter(Refusal refusal) {
            String bytes = new String(
                    refusal.bytes(), refusal.from(), refusal.to() - refusal.from(), StandardCharsets.ISO_8859_1);
            texts.add(refusal.offset() + "+" + refusal.length() + " " + refusal.code() + " " + bytes);
        }
    }

    /** Returns at most {@code limit} bytes per read. */
    private static InputStream slow(byte[] bytes, int limit) {
        return new ByteArrayInputStream(bytes) {
            @Override
            public synchronized int read(byte[] target, int from, int length) {
                return super.read(target, from, Math.min(length, limit));
            }
        };
    }

    private static String entry(int second, String statement) {
        return "# Time: 2026-11-21T02:49:%02d.000000Z\n".formatted(second)
                + "# User@Host: root[root] @ localhost []  Id: 7\n"
                + "# Query_time: 0.1  Lock_time: 0.0 Rows_sent: 0  Rows_examined: 0\n"
                + "SET timestamp=" + (1_795_229_340 + second) + ";\n" + statement + "\n";
    }

    private static String log() {
        return "stray\n" + entry(1, "SELECT 1;") + "\n" + entry(2, "SELECT 'never;") + entry(3, "SELECT 3, 'x';")
                + entry(4, "SELECT a FROM t\nWHERE b IN (1,\n2);") + entry(5, "SELECT 5;") + "text\n"
                + entry(6, "SELECT '" + "x".repeat(5_000) + "';")
                + entry(7, "SELECT 7").stripTrailing();
    }

    @Test
    void theResultDoesNotDependOnTheChunks() throws IOException {
        byte[] file = log().getBytes(StandardCharsets.UTF_8);
        Texts whole = new Texts();
        ByteAccounting accounts = new LogReader(file, InputStream.nullInputStream(), format, origin, whole).read();
        assertThat(accounts.balance()).isTrue();
        assertThat(accounts.events.count).isEqualTo(6);
        assertThat(accounts.deadLetterCount()).isEqualTo(3);
        assertThat(accounts.pending).isZero();
        Random random = new Random(1);
        for (int round = 0; round < 60; round++) {
            int head = random.nextInt(200);
            InputStream rest = slow(Arrays.copyOfRange(file, head, file.length), 1 + random.nextInt(300));
            Texts texts = new Texts();
            new LogReader(Arrays.copyOf(file, head), rest, format, origin, texts).read(1 + random.nextInt(4));
            assertThat(texts.texts).isEqualTo(whole.texts);
        }
    }

    @Test
    void aThreadThatFailsEndsTheOthers() {
        byte[] file = log().repeat(500).getBytes(StandardCharsets.UTF_8);
        LogEventHandler failing = new Texts() {
            @Override
            public void query(QueryEvent event, String fingerprint, String statement) {
                super.query(event, fingerprint, statement);
                if (event.getEntryOffset() > file.length / 2) {
                    throw new IllegalArgumentException("of the sink");
                }
            }
        };
        LogReader reader = new LogReader(new byte[0], slow(file, 999), format, origin, failing);
        assertThatThrownBy(() -> reader.read(3)).hasStackTraceContaining("of the sink");
    }

    @Test
    void aFileLargerThanTheBufferIsReadWhole() throws IOException {
        StringBuilder file = new StringBuilder();
        for (int i = 0; i < 20_000; i++) {
            file.append(entry(i % 60, i % 100 == 0 ? "SELECT '" + "y".repeat(30_000) + "';" : "SELECT " + i + ";"));
        }
        byte[] bytes = file.toString().getBytes(StandardCharsets.UTF_8);
        ByteAccounting accounts = new LogReader(new byte[0], slow(bytes, 70_001), format, origin, new Texts()).read();
        assertThat(accounts.events.count).isEqualTo(20_000);
        assertThat(accounts.events.bytes).isEqualTo(bytes.length);
    }

    @Test
    void aLineThatIsTooLongIsLeftOut() throws IOException {
        String begun = entry(2, "SELECT 1");
        String tooLong = "x".repeat(3 << 20) + "\n";
        String file = entry(1, "SELECT 1;") + begun + tooLong + entry(3, "SELECT 3;");
        Texts texts = new Texts();
        ByteAccounting accounts = new LogReader(
                        new byte[0], slow(file.getBytes(StandardCharsets.UTF_8), 9_999), format, origin, texts, 1 << 20)
                .read();
        assertThat(accounts.balance()).isTrue();
        assertThat(accounts.events.count).isEqualTo(2);
        assertThat(accounts.deadLetters).containsOnlyKeys(DeadLetterCode.INCOMPLETE, DeadLetterCode.ENTRY_TOO_LARGE);
        assertThat(texts.texts.get(1)).endsWith("INCOMPLETE " + begun);
        assertThat(texts.texts.get(2)).startsWith((entry(1, "SELECT 1;") + begun).length() + "+" + tooLong.length());
    }

    @Test
    void aLineThatIsTooLongAndNeverEndsIsLeftOut() throws IOException {
        byte[] file = (entry(1, "SELECT 1;") + "x".repeat(3 << 20)).getBytes(StandardCharsets.UTF_8);
        ByteAccounting accounts =
                new LogReader(new byte[0], slow(file, 9_999), format, origin, new Texts(), 1 << 20).read();
        assertThat(accounts.balance()).isTrue();
        assertThat(accounts.size).isEqualTo(file.length);
    }
}
