package io.tailrace.benchmarks;

import io.tailrace.plan.Plan;
import io.tailrace.plan.reader.PlanReader;
import io.tailrace.plan.shape.PlanHash;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Measures documents per second and core, from bytes to the model and its hash. The input is the golden set, which
 * real servers wrote, one document after the other.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class PlanBenchmark {

    /** Directory of the documents; {@code make bench-core} runs at the repository's root. */
    private static final Path GOLDEN =
            Path.of(System.getProperty("tailrace.plans", "stream-jobs/plans/src/test/resources/golden"));

    private final List<byte[]> documents = new ArrayList<>();
    private final PlanReader reader = new PlanReader();
    private int next;

    @Setup
    public void read() throws IOException {
        try (Stream<Path> cases = Files.list(GOLDEN)) {
            for (Path plan : cases.sorted().toList()) {
                byte[] bytes = Files.readAllBytes(plan.resolve("input.txt"));
                if (bytes[0] == '{') {
                    documents.add(bytes);
                    assertSame(bytes, Files.readString(plan.resolve("expected.json")));
                }
            }
        }
    }

    private void assertSame(byte[] bytes, String expected) {
        Plan plan = reader.read(bytes, 0, bytes.length).orElseThrow();
        if (!expected.contains("\"" + PlanHash.of(plan) + "\"")) {
            throw new IllegalStateException(PlanHash.shape(plan) + " is not in " + expected);
        }
    }

    /** Reads one document. */
    @Benchmark
    public void parse(Blackhole hashes) {
        byte[] bytes = documents.get(next);
        next = (next + 1) % documents.size();
        hashes.consume(PlanHash.of(reader.read(bytes, 0, bytes.length).orElseThrow()));
    }
}
