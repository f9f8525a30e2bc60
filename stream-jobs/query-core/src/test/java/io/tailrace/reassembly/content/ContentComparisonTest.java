package io.tailrace.reassembly.content;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.reassembly.ReassemblyLimits;
import io.tailrace.reassembly.state.StateWriter;
import org.junit.jupiter.api.Test;

/** Repeated lines of a segment of which only one hash is stored. */
class ContentComparisonTest {

    private static final String LINE = "E line;\n";
    private static final int SEGMENT = 2 * LINE.length();
    private static final String FILE = LINE + LINE + "E four;\nE five;\n" + LINE + LINE;

    private final ContentHashes hashes = new ContentHashes(withoutHashesOfLines(), new StateWriter.Ids());

    ContentComparisonTest() {
        byte[] file = FILE.getBytes(ISO_8859_1);
        ContentHashes.Segment segment = null;
        for (int from = 0; from < file.length; from += LINE.length()) {
            int to = from + LINE.length();
            long hash = LineHashes.hash(file, from, LineHashes.contentEnd(file, from, to));
            segment = hashes.add(segment, from, to, hash);
        }
    }

    private static ReassemblyLimits withoutHashesOfLines() {
        return new ReassemblyLimits(1 << 17, 30_000, 1 << 20, SEGMENT, 0, 1024, 1 << 14, 1L << 40, 16);
    }

    /** Compares lines that arrive again; none of them adjoins lines that are known to be the same. */
    private ContentComparison compare(int from, String lines) {
        byte[] bytes = lines.getBytes(ISO_8859_1);
        ContentComparison comparison = new ContentComparison(hashes, from, FILE.length(), LINE.length(), false);
        for (int line = 0; line < bytes.length; line += LINE.length()) {
            if (!comparison.line(from, bytes, line, line + LINE.length())) {
                break;
            }
        }
        return comparison;
    }

    @Test
    void allLinesOfASegmentProveTheFile() {
        ContentComparison comparison = compare(SEGMENT, "E four;\nE five;\n");
        assertThat(comparison.differs()).isFalse();
        assertThat(comparison.distinctive()).isTrue();
        assertThat(comparison.agreedTo()).isEqualTo(2 * SEGMENT);
    }

    @Test
    void oneOtherLineInASegmentIsADifference() {
        assertThat(compare(SEGMENT, "E four;\nE nine;\n").differs()).isTrue();
        assertThat(compare(SEGMENT, "E nine;\nE five;\n").differs()).isTrue();
        assertThat(compare(SEGMENT, "E four;\nE five;\n" + LINE + "E nine;\n").differs())
                .isTrue();
    }

    @Test
    void aPartOfASegmentProvesNothing() {
        ContentComparison firstLine = compare(SEGMENT, "E nine;\n");
        assertThat(firstLine.differs()).isFalse();
        assertThat(firstLine.distinctive()).isFalse();
        ContentComparison lastLine = compare(SEGMENT + LINE.length(), "E nine;\n");
        assertThat(lastLine.differs()).isFalse();
        assertThat(lastLine.agreedTo()).isEqualTo(SEGMENT + LINE.length());
    }

    @Test
    void aSegmentAfterAPartOfOneProvesTheFile() {
        ContentComparison comparison = compare(SEGMENT + LINE.length(), "E five;\n" + LINE + LINE);
        assertThat(comparison.distinctive()).isTrue();
        assertThat(comparison.agreedTo()).isEqualTo(FILE.length());
    }
}
