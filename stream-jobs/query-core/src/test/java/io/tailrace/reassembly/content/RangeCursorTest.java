package io.tailrace.reassembly.content;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.reassembly.ReassemblyLimits;
import io.tailrace.testing.Contract;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Divides the files of schemas/contracts/signed_range.json as the signer does, for every chunking into lines. */
class RangeCursorTest {

    private static final int RANGE_BYTES = ReassemblyLimits.defaults().rangeBytes();

    @Test
    void filesAreDividedAsTheSignerDividesThem() throws IOException {
        for (Map<String, Object> file : Contract.cases(Contract.of("signed_range"), "files")) {
            byte[] bytes = Contract.content(file).getBytes(ISO_8859_1);
            boolean rotated = (Boolean) file.get("rotated");
            for (int lines : new int[] {1, 7, 100_000}) {
                assertThat(divide(bytes, rotated, lines))
                        .as("%s, %d lines at a time", file.get("case"), lines)
                        .isEqualTo(ranges(file));
            }
        }
    }

    private static List<String> ranges(Map<String, Object> file) {
        return Contract.cases(file, "ranges").stream()
                .map(range -> range.get("from") + "-" + range.get("to") + " " + range.get("sha256"))
                .toList();
    }

    private static List<String> divide(byte[] file, boolean rotated, int linesAtOnce) {
        List<String> ranges = new ArrayList<>();
        RangeCursor cursor =
                RangeCursor.atRange(RANGE_BYTES, 0, (from, to, hash, ambiguous) -> ranges.add(text(from, to, hash)));
        int end = rotated ? file.length : completeLines(file);
        for (int from = 0; from < end; ) {
            int to = from;
            for (int i = 0; i < linesAtOnce && to < end; i++) {
                to = LineHashes.end(file, to, end);
            }
            cursor.append(file, from, to);
            from = to;
        }
        if (cursor.start() < end) {
            ranges.add(text(cursor.start(), end, cursor.hash(cursor.start(), end)));
        }
        return ranges;
    }

    private static int completeLines(byte[] file) {
        int end = file.length;
        while (end > 0 && file[end - 1] != '\n') {
            end--;
        }
        return end;
    }

    private static String text(long from, long to, byte[] hash) {
        return from + "-" + to + " " + HexFormat.of().formatHex(hash);
    }
}
