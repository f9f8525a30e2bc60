package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import io.tailrace.testing.PropertyTestBudget;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The parser of every format that escapes statements returns a statement as it was before its server escaped it. A new
 * format is covered without a change, because it needs a {@link LogWriter}.
 */
class StatementRoundTripTest {

    /** Letters that follow a backslash find a parser that undoes escapes in several passes: {@code c:\\temp}. */
    private static final String[] PIECES = {
        "'", "\"", "\\", "\n", "\t", "\r", "n", "t", "r", "`", ",", "=", " ", ";", "<", ">", "&", "/>", "{", "}", "#",
        "0", "a", "\u00e9", "%s", "'',0"
    };

    private static final int MAX_PIECES = 12;

    @Test
    void everyAuditFormatEscapes() {
        assertThat(LogWriter.escaping())
                .extracting(LogWriter::format)
                .containsAll(LogWriter.ofAudit().stream().map(LogWriter::format).toList());
    }

    @ParameterizedTest
    @MethodSource("io.tailrace.formats.LogWriter#escaping")
    void aStatementIsReadAsItWasSent(LogWriter writer) {
        LogFormat format = writer.logFormat();
        for (int seed = 0; seed < PropertyTestBudget.of(300, 3_000); seed++) {
            String statement = "SELECT x" + pieces(new Random(seed)) + "y";
            byte[] file = writer.record().apply(statement).getBytes(StandardCharsets.UTF_8);
            List<Parsed.Outcome> outcomes = Parsed.of(format, FramedLog.of(format, file));
            assertThat(outcomes)
                    .extracting(Parsed.Outcome::statement)
                    .as("%s, seed %d: %s", writer, seed, new String(file, StandardCharsets.UTF_8))
                    .containsExactly(statement);
        }
    }

    private static String pieces(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(MAX_PIECES); i > 0; i--) {
            text.append(PIECES[random.nextInt(PIECES.length)]);
        }
        return text.toString();
    }
}
