package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.NormalizedStatement;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import io.tailrace.statement.OtherParser;
import io.tailrace.statement.StatementTables;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Compares the tables of every class of statements in the corpora with those that Druid's parser for MySQL finds. */
@Tag("slow")
class TablesByAnotherParserTest {

    /** Number of bytes that are read of one log: the large ones are repetitive. */
    private static final int MAX_OF_A_LOG = 20_000_000;

    private final Fingerprinter fingerprinter = new Fingerprinter();

    /**
     * Known differences: {@code SELECT "id" FROM "customers"} ran under ANSI_QUOTES, which no log contains, so the
     * table counts as a string. For a statement that a log cut within its literal, the results may differ.
     */
    private static boolean isKnownDifference(String statement, StatementTables ours) {
        return !ours.complete() && (statement.contains("FROM \"") || statement.length() >= 1_000);
    }

    @Test
    void tablesAreThoseOfAnotherParser() {
        int compared = 0;
        List<String> differences = new ArrayList<>();
        for (String statement : statements()) {
            StatementTables ours = shape(statement).tables();
            OtherParser.Answer theirs = OtherParser.read(statement, ours).orElse(null);
            if (theirs != null) {
                compared++;
                if (!theirs.agrees(ours) && !isKnownDifference(statement, ours)) {
                    differences.add(statement + "\n  ours " + ours + "\n  theirs " + theirs);
                }
            }
        }
        assertThat(compared).isGreaterThan(350);
        assertThat(differences).as("of %d", compared).hasSizeLessThanOrEqualTo(compared / 200);
    }

    private NormalizedStatement shape(String statement) {
        byte[] bytes = statement.getBytes(StandardCharsets.UTF_8);
        return fingerprinter.statement(bytes, 0, bytes.length);
    }

    /** Returns one statement for each class and set of tables. */
    private Iterable<String> statements() {
        Map<String, String> statements = new LinkedHashMap<>();
        Stream.of("ours/slow", "ours/audit", "ours/large", "third-party/slow", "third-party/audit")
                .flatMap(directory -> Corpora.files(directory, "").stream())
                .forEach(file -> each(file, statement -> {
                    NormalizedStatement shape = shape(statement);
                    statements.putIfAbsent(shape.queryIdText() + shape.tables(), statement);
                }));
        return statements.values();
    }

    private static void each(Path file, Consumer<String> out) {
        byte[] bytes = head(file);
        LogFormat format = new FormatRegistry().detect("", "auto", bytes).orElse(null);
        if (format == null || format.name().contains("error")) {
            return;
        }
        Parsed.each(format, FramedLog.of(format, bytes), outcome -> {
            if (outcome.statement() != null && !outcome.statement().isEmpty()) {
                out.accept(outcome.statement());
            }
        });
    }

    private static byte[] head(Path file) {
        boolean packed = file.toString().endsWith(".gz");
        try (InputStream raw = Files.newInputStream(file);
                InputStream in = packed ? new GZIPInputStream(raw) : raw) {
            return in.readNBytes(MAX_OF_A_LOG);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
