package io.tailrace.benchmarks;

import io.tailrace.event.AuditEvent;
import io.tailrace.event.ErrorEvent;
import io.tailrace.event.QueryEvent;
import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryDetail;
import io.tailrace.framing.EntryParser;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.framing.LogEntry;
import io.tailrace.framing.ParseListener;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StatementScanner;
import io.tailrace.slowlog.SlowLogFormat;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Measures framer, parser, lexer and fingerprint separately: milliseconds for one whole sample. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class SlowLogBenchmark {

    @Param({"mysql-8.0.46.slow.log", "mariadb-10.11.19.slow.log", "pxc-5.7.20.slow.log"})
    public String sample;

    private final SlowLogFormat format = new SlowLogFormat();
    private final EntryParser full = format.newParser();
    private final EntryParser statistics = format.newParser(EntryDetail.STATISTICS);
    private final StatementScanner scanner = new StatementScanner();
    private final Fingerprinter fingerprinter = new Fingerprinter();
    private SampleLog log;
    private int events;

    /**
     * Reads the sample and checks that every entry becomes one event, so that the benchmark measures the intended
     * work.
     */
    @Setup
    public void read() {
        log = new SampleLog(sample, format);
        parse(full);
        if (events != log.entries.size()) {
            throw new IllegalStateException("expected " + log.entries.size() + " events, found " + events);
        }
    }

    @Benchmark
    public int frame() {
        Counter counter = new Counter();
        log.frame(format.newFramer(), counter);
        return counter.count;
    }

    @Benchmark
    public int parseFull() {
        return parse(full);
    }

    @Benchmark
    public int parseStatistics() {
        return parse(statistics);
    }

    /** Scans all lines except headers. */
    @Benchmark
    public int scan() {
        int states = 0;
        int at = 0;
        while (at < log.bytes.length) {
            int end = ByteText.lineFeed(log.bytes, at, log.bytes.length);
            if (end > at && log.bytes[at] != '#') {
                scanner.reset();
                scanner.line(log.bytes, at, end);
                states += scanner.state();
            }
            at = end + 1;
        }
        return states;
    }

    /** Masks whole entries; their headers are comments. */
    @Benchmark
    public long fingerprint() {
        long ids = 0;
        for (LogEntry entry : log.entries) {
            ids += fingerprinter
                    .statement(entry.bytes(), entry.from(), entry.to())
                    .queryId();
        }
        return ids;
    }

    private int parse(EntryParser parser) {
        events = 0;
        for (LogEntry entry : log.entries) {
            parser.parse(entry, new Events());
        }
        return events;
    }

    private static final class Counter implements FrameListener {

        private int count;

        @Override
        public void entry(long from, long to, EntryContext context) {
            count++;
        }

        @Override
        public void framing(long from, long to, FramingKind kind) {}

        @Override
        public void rejected(long from, long to, DeadLetterCode code, String message) {}
    }

    private final class Events implements ParseListener {

        @Override
        public boolean needsStatement(QueryEvent event) {
            return false;
        }

        @Override
        public void query(QueryEvent event, String fingerprint, String statement) {
            events++;
        }

        @Override
        public void audit(AuditEvent event, String fingerprint, String statement) {}

        @Override
        public void error(ErrorEvent event) {}

        @Override
        public void rejected(DeadLetterCode code, String message) {}
    }
}
