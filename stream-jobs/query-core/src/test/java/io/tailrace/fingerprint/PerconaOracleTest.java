package io.tailrace.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

/** Percona's own tool, if it is installed, still returns what the test tables contain. */
class PerconaOracleTest {

    private static final Path TOOL = Path.of("/usr/bin/pt-fingerprint");

    private final Fingerprinter fingerprinter = new Fingerprinter();

    @BeforeAll
    static void toolIsInstalled() {
        assumeTrue(Files.isExecutable(TOOL), "no percona-toolkit at " + TOOL + ": skipped");
    }

    /** Columns: statement, Percona's fingerprint, our fingerprint and the reason (docs/FINGERPRINT.md). */
    @ParameterizedTest
    @CsvFileSource(
            resources = "/fingerprint/percona-differences.psv",
            delimiter = '|',
            quoteCharacter = '\u0001',
            ignoreLeadingAndTrailingWhitespace = false)
    void differencesAreKnown(String statement, String theirs) throws IOException, InterruptedException {
        assertThat(percona(statement)).isEqualTo(theirs);
    }

    @ParameterizedTest
    @CsvFileSource(resources = "/fingerprint/percona-ids.psv", delimiter = '|', quoteCharacter = '\u0001')
    void elsewhereFingerprintsAreEqual(String statement) throws IOException, InterruptedException {
        byte[] bytes = statement.getBytes(StandardCharsets.UTF_8);
        assertThat(percona(statement))
                .isEqualTo(fingerprinter.statement(bytes, 0, bytes.length).fingerprint());
    }

    private static String percona(String statement) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(TOOL.toString(), "--query", statement)
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor(); // with 1 for every statement
        return output.endsWith("\n") ? output.substring(0, output.length() - 1) : output;
    }
}
