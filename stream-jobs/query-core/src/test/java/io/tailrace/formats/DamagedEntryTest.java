package io.tailrace.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.audit.record.SingleLineFramer;
import io.tailrace.framing.FramedLog;
import io.tailrace.framing.FramedLog.Frame;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Verifies that an entry that a crash cut, or whose statement contains a literal that is never closed, hides no later
 * entry. An entry is found if the framer reports exactly its bytes. A new format is covered without a change, because
 * it needs a {@link LogWriter}. The log continues: only one entry more than those that must be found follows, and not the
 * end of the file, at which a framer gives up an open literal.
 *
 * <ul>
 *   <li>After a cut entry and a line feed, every later entry is found.
 *   <li>If the next entry begins on the line of the cut, at most this one is lost. Formats that recognize the start of
 *       an entry within a line lose none: those that escape statements, unless each line is an entry.
 *   <li>After a literal that is never closed, every later entry is found. Most formats escape or quote statements, and
 *       only the others have to look for the next entry within the literal; the result is the same.
 * </ul>
 */
class DamagedEntryTest {

    /** Whole entries before the damaged one, from which framers learn the context. */
    private static final int BEFORE = 2;

    private static final int AFTER = 8;
    private static final int CUTS = 40;
    private static final String CUT = "SELECT 'a\nb', \"c\", 1 /* d\ne */ FROM t WHERE x = 'f'";
    /** Later entries, some with quotes that may close an open literal. */
    private static final List<String> WHOLE = List.of(
            "SELECT 1 FROM t", "SELECT 'x' FROM t", "SELECT 'x', \"y\" FROM `t`", "INSERT INTO t VALUES ('it''s')");

    private static final List<String> UNCLOSED =
            List.of("SELECT 'a", "SELECT \"a", "SELECT `a", "SELECT 1 /* a", "SELECT 'a\\", "SELECT 'a\nb");

    static Stream<LogWriter> writers() {
        return LogWriter.all().stream();
    }

    /** Returns the formats that escape statements and for which a line is not simply an entry. */
    static Stream<LogWriter> writersWithAScanner() {
        return LogWriter.escaping().stream()
                .filter(writer -> !(writer.logFormat().newFramer() instanceof SingleLineFramer));
    }

    @ParameterizedTest
    @MethodSource("writers")
    void afterACutEntryAndALineFeedEveryEntryIsFound(LogWriter writer) {
        String entry = writer.record().apply(CUT);
        for (int cut : cuts(writer, 1, entry.length() - 1)) {
            for (int first = 0; first < WHOLE.size(); first++) {
                String damaged = entry.substring(0, cut) + "\n";
                assertThat(lost(writer, damaged, first))
                        .as("%s: lost entries, counted from 1, after the cut entry:%n%s", writer, damaged)
                        .isEmpty();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("writers")
    void onTheLineOfACutEntryAtMostOneIsLost(LogWriter writer) {
        String entry = writer.record().apply(CUT);
        for (int cut : cuts(writer, 1, entry.length() - 1)) {
            for (int first = 0; first < WHOLE.size(); first++) {
                String damaged = entry.substring(0, cut);
                assertThat(lost(writer, damaged, first))
                        .as("%s: lost entries, counted from 1, on the line of the cut entry:%n%s", writer, damaged)
                        .isSubsetOf(1);
            }
        }
    }

    /** The statement has no quotation marks: in CSV, one at the cut and that of the next entry are one of the statement. */
    @ParameterizedTest
    @MethodSource("writersWithAScanner")
    void formatsThatRecognizeAStartWithinALineLoseNone(LogWriter writer) {
        String statement = CUT.replace('"', '\'');
        String entry = writer.record().apply(statement);
        int from = writer.before().length();
        for (int cut = from + 1; cut < from + writer.escaped(statement).length(); cut++) {
            String damaged = entry.substring(0, cut);
            assertThat(lost(writer, damaged, 0))
                    .as(
                            "%s: lost entries, counted from 1, on the line of the cut entry. The framer must find an entry that"
                                    + " begins within a line. If a value can contain the start of an entry, exclude the format"
                                    + " in writersWithAScanner, with the reason:%n%s",
                            writer, damaged)
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("writers")
    void aLiteralThatIsNeverClosedHidesNoLaterEntry(LogWriter writer) {
        for (String statement : UNCLOSED) {
            for (int first = 0; first < WHOLE.size(); first++) {
                String damaged = writer.record().apply(statement);
                assertThat(lost(writer, damaged, first))
                        .as("%s: lost entries, counted from 1, after the open literal:%n%s", writer, damaged)
                        .isEmpty();
            }
        }
    }

    /** Returns the lengths to which an entry is cut: its first and last ones, and random ones. */
    private static List<Integer> cuts(LogWriter writer, int from, int to) {
        Random random = new Random(writer.format().hashCode());
        return IntStream.concat(IntStream.of(from, to - 1), random.ints(CUTS, from, to))
                .boxed()
                .toList();
    }

    /**
     * Returns the numbers of the entries after a damaged one that are not found, from 1. The entries before it must be
     * found, except for the last one: a cut entry may be too short to be distinguished from a line of its statement.
     */
    private static List<Integer> lost(LogWriter writer, String damaged, int first) {
        StringBuilder log = new StringBuilder();
        List<Frame> wanted = new ArrayList<>();
        for (int i = 0; i <= BEFORE + AFTER; i++) {
            if (i == BEFORE) {
                log.append(damaged);
            }
            int from = log.length();
            log.append(writer.record().apply(WHOLE.get((first + i) % WHOLE.size())));
            wanted.add(range(from, log.length()));
        }
        Set<Frame> found = new HashSet<>();
        for (Frame entry : FramedLog.ofOpen(writer.logFormat(), log.toString().getBytes(StandardCharsets.ISO_8859_1))
                .entries()) {
            found.add(range(entry.from(), entry.to()));
        }
        assertThat(found).as("entries before the damaged one in:%n%s", log).containsAll(wanted.subList(0, BEFORE - 1));
        return IntStream.range(BEFORE, BEFORE + AFTER)
                .filter(i -> !found.contains(wanted.get(i)))
                .mapToObj(i -> i - BEFORE + 1)
                .toList();
    }

    private static Frame range(long from, long to) {
        return new Frame(from, to, null, null, null, null);
    }
}
