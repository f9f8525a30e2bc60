package io.tailrace.generallog;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.framing.DeadLetterCode;
import io.tailrace.framing.EntryContext;
import io.tailrace.framing.EntryFramer;
import io.tailrace.framing.FrameListener;
import io.tailrace.framing.FramingKind;
import io.tailrace.lexer.ByteText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Snapshots of the general log's framer that earlier versions wrote. */
class GeneralLogSnapshotTest {

    private final GeneralLogFormat format = new GeneralLogFormat();

    /** The snapshot was written by 0.2.0, in development, after the first two lines. */
    @Test
    void aSnapshotOfTheFirstVersionIsRead() {
        byte[] snapshot = HexFormat.of()
                .parseHex(
                        "0000000000000067000000000000003e0114ffffffffffffffff0000000191270016323032362d31312d32315430323a"
                                + "34393a30332e325a000761707040776562000473686f700002000761707040776562000473686f70000100000000000000"
                                + "08000000010000000000000008");
        String before = "2026-11-21T02:49:03.1Z\t8 Connect\tapp@web on shop using TCP/IP\n"
                + "2026-11-21T02:49:03.2Z\t8 Query\tSELECT 'a\n";
        byte[] file = (before + "'; USE crm\n\t\t8 Query\tSELECT 2\n\t\t8 Query\tUSE crm\n\t\t8 Quit\t\n")
                .getBytes(StandardCharsets.US_ASCII);
        List<String> databases = new ArrayList<>();
        FrameListener out = new Databases(databases);
        EntryFramer framer = format.restoreFramer(snapshot);
        long at = before.length();
        while (at < file.length) {
            at = framer.line(file, (int) at, ByteText.lineFeed(file, (int) at, file.length) + 1, at, out);
        }
        assertThat(databases).containsExactly("shop", "shop", "crm", "crm");
    }

    /** Snapshots of version 1 after the first line of a statement whose literal is open if a backslash escapes. */
    static Stream<Arguments> openLiterals() {
        String session = "16323032362d31312d32315430323a34393a30332e325a000761707040776562000473686f70"
                + "0002000761707040776562000473686f7000010000000000000008000000010000000000000008";
        return Stream.of(
                Arguments.of(
                        "'a",
                        "010000000000000067000000000000003e0114ffffffffffffffff00000001912700000000000000080005000029000000"
                                + session,
                        0),
                Arguments.of(
                        "'c:\\' a",
                        "01000000000000006c000000000000003e0114ffffffffffffffff00000001910000000000000000080005010029002800"
                                + session,
                        1));
    }

    @ParameterizedTest
    @MethodSource("openLiterals")
    void aSnapshotWithTheOpenQuoteIsRead(String literal, String snapshot, int ended) {
        String before = "2026-11-21T02:49:03.1Z\t8 Connect\tapp@web on shop using TCP/IP\n"
                + "2026-11-21T02:49:03.2Z\t8 Query\tSELECT " + literal + "\n";
        byte[] file = (before + "2026-11-21T02:49:03.3Z\t8 Query\tSELECT 2\n").getBytes(StandardCharsets.US_ASCII);
        List<String> databases = new ArrayList<>();
        EntryFramer framer = format.restoreFramer(HexFormat.of().parseHex(snapshot));
        framer.line(file, before.length(), file.length, before.length(), new Databases(databases));
        assertThat(databases).hasSize(ended);
    }

    private record Databases(List<String> found) implements FrameListener {

        @Override
        public void entry(long from, long to, EntryContext context) {
            found.add(context.database());
        }

        @Override
        public void framing(long from, long to, FramingKind kind) {
            throw new AssertionError("every line is a command");
        }

        @Override
        public void rejected(long from, long to, DeadLetterCode code, String message) {
            throw new AssertionError(code + ": " + message);
        }
    }
}
