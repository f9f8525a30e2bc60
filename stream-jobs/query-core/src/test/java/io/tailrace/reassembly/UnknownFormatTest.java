package io.tailrace.reassembly;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.event.DeadLetter;
import io.tailrace.formats.FormatRegistry;
import io.tailrace.framing.DeadLetterCode;
import io.tailrace.reassembly.assignment.LogReassembler;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The message of a dead letter distinguishes a misspelled {@code format} from a log that no format matches. */
class UnknownFormatTest {

    private static final LogId ID = new LogId("db1", "slowlog", "/slow.log");
    private static final String SLOW = "# Time: 2026-11-21T02:49:03.496201Z\n# User@Host: a[a] @ b []  Id: 8\n";

    private static DeadLetter rejected(String hint, String line) {
        ReassemblyLimits limits = ReassemblyLimits.defaults();
        byte[] file = line.repeat(limits.detectBytes() / line.length() + 1).getBytes(StandardCharsets.ISO_8859_1);
        CollectedOutput output = new CollectedOutput();
        FileOrigin origin = new FileOrigin(ID.toKey(), "c", "db1", "slowlog", hint, "UTC", "/slow.log");
        new LogReassembler(ID, new FormatRegistry(), limits, "test", output)
                .block(new LineBlock(origin, 0, file, 1_000, false, 0), 1_000);
        assertThat(output.deadLetters)
                .extracting(DeadLetter::getCode)
                .containsOnly(DeadLetterCode.UNKNOWN_FORMAT.name());
        return output.deadLetters.get(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mysql-slwo", "mysql-error", "mariadb-audit"})
    void aMisspelledFormatAndOneOfAnotherSourceAreNamed(String format) {
        assertThat(rejected(format, SLOW).getMessage())
                .isEqualTo("expected the name of a format of slowlog or auto in the key format, found " + format);
    }

    @Test
    void aLogWithoutAFormatNamesItsSource() {
        for (String hint : new String[] {"auto", ""}) {
            assertThat(rejected(hint, "no log\n").getMessage()).isEqualTo("no format of slowlog matches");
        }
    }
}
