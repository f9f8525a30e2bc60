package io.tailrace.reassembly.content;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Which heads of a census are those of the bytes that were read. */
class FileHeadTest {

    private static final byte[] FIRST = "E one;\n".getBytes(ISO_8859_1);
    private static final byte[] SECOND = "E two;\n".getBytes(ISO_8859_1);
    private static final String FIRST_IN_FILE = "E one;\r\n";

    private final FileHead head = new FileHead();

    private Boolean matches(String file, long frontier) {
        byte[] bytes = file.getBytes(ISO_8859_1);
        return head.matches(bytes.length, HeadHash.hex(bytes, bytes.length), frontier, true);
    }

    /** A collector strips a carriage return; the next offset shows that the line end has two bytes in the file. */
    @Test
    void linesAfterAnExtendedLineEndBelongToTheHead() {
        head.keep(FIRST, 0, 0);
        head.extendLastLine(FIRST.length);
        head.keep(SECOND, 0, FIRST_IN_FILE.length());

        int frontier = FIRST_IN_FILE.length() + SECOND.length;
        assertThat(matches(FIRST_IN_FILE, frontier)).isTrue();
        assertThat(matches(FIRST_IN_FILE + "E two;\n", frontier)).isTrue();
        assertThat(matches(FIRST_IN_FILE + "E two;\r\n", frontier)).isTrue();
    }

    /** Other line ends after it may have two bytes as well, so that a different hash of a longer head proves nothing. */
    @Test
    void bytesAfterAnExtendedLineEndDoNotDecideAlone() {
        head.keep(FIRST, 0, 0);
        head.extendLastLine(FIRST.length);
        head.keep(SECOND, 0, FIRST_IN_FILE.length());

        int frontier = FIRST_IN_FILE.length() + SECOND.length;
        assertThat(matches("E six;\n".substring(0, 5), frontier)).isFalse();
        assertThat(matches(FIRST_IN_FILE + "E six;", frontier)).isNull();
    }
}
