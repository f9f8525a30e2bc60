package io.tailrace.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.formats.ReadAnything;
import io.tailrace.framing.LogFormat;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.StatementScanner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Targets of Jazzer: no input makes a framer, parser or lexer throw, lose a byte, or depend on how often it is saved
 * and restored. As tests, the targets read the golden files; {@code make fuzz} searches for other inputs.
 */
class FuzzTargetsTest {

    private static final Path GOLDEN = Path.of("src/test/resources/golden");
    private static final List<LogFormat> FORMATS = new FormatRegistry().all();

    private final Fingerprinter fingerprinter = new Fingerprinter();

    /** The unchanged golden files of all formats. */
    static Stream<Arguments> logs() {
        try (Stream<Path> files = Files.walk(GOLDEN)) {
            return files
                    .filter(path -> path.endsWith("input.log"))
                    .sorted()
                    .map(FuzzTargetsTest::read)
                    .toList()
                    .stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Arguments read(Path path) {
        try {
            return Arguments.of((Object) Files.readAllBytes(path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void check(String format, byte[] file) {
        ReadAnything.check(new FormatRegistry().named(format).orElseThrow(), file);
    }

    @MethodSource("logs")
    @FuzzTest(maxDuration = "1m")
    void slowLog(byte[] file) {
        check("mysql-slow", file);
    }

    @MethodSource("logs")
    @FuzzTest(maxDuration = "1m")
    void generalLog(byte[] file) {
        check("mysql-general", file);
    }

    @MethodSource("logs")
    @FuzzTest(maxDuration = "1m")
    void errorLog(byte[] file) {
        check("mysql-error", file);
    }

    /** The file's first byte chooses the format. */
    @MethodSource("logs")
    @FuzzTest(maxDuration = "1m")
    void anyFormat(byte[] file) {
        new FormatRegistry().detect("", "auto", file);
        if (file.length > 0) {
            ReadAnything.check(FORMATS.get((file[0] & 0xff) % FORMATS.size()), file);
        }
    }

    @MethodSource("logs")
    @FuzzTest(maxDuration = "1m")
    void lexer(byte[] text) {
        fingerprinter.statement(text, 0, text.length);
        StatementScanner whole = new StatementScanner();
        StatementScanner restored = new StatementScanner();
        int from = 0;
        while (from < text.length) {
            int to = ByteText.lineFeed(text, from, text.length);
            whole.line(text, from, to);
            restored.line(text, from, to);
            int state = restored.state();
            restored = new StatementScanner();
            restored.restore(state);
            from = to + 1;
        }
        if (whole.state() != restored.state()) {
            throw new AssertionError("expected state " + whole.state() + ", found " + restored.state());
        }
    }
}
