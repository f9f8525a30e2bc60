package io.tailrace.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.testing.PropertyTestBudget;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Statements composed of parts that servers skip, so that the result is known without another lexer. */
class UseStatementTest {

    /** Separate words. */
    private static final List<String> BLANKS = List.of(
            " ",
            "\n",
            "\t\r\n",
            "/**/",
            "/* USE crm; */",
            "-- USE crm\n",
            "# '\n",
            "/*! */",
            "/*!50000*/",
            "\n/* \"\n`\n */",
            "/***/");

    private static final List<String> ENDS =
            List.of("", ";", ";;", " ; \n", "-- x", "\n# '", "/* ' */", "; -- x", ";/* x */");

    /** Executed by some servers only. */
    private static final List<String> OPTIONAL =
            List.of("/*!50600 x */", "/*!80000 ; */", "/*!99999 x */", "/*M! crm */", "/*M!100100 ,*/");

    private static final List<String> OTHER = List.of(
            "SELECT 'USE crm;'",
            "SELECT 1 FROM t USE INDEX (a)",
            "INSERT INTO t VALUES (\"a\nUSE crm\")",
            "UPDATE `use` SET a = 1 /* ; USE crm */",
            "COMMIT");

    private final Random random = new Random(20261127);
    private final UseStatement use = new UseStatement();

    private String any(List<String> parts) {
        return parts.get(random.nextInt(parts.size()));
    }

    private String blanks(int min) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(3) + min; i > 0; i--) {
            text.append(any(BLANKS));
        }
        return text.toString();
    }

    /** Returns the words with blanks around them, with {@code added} at one place between, before or after them. */
    private String spelled(List<String> words, String added) {
        int place = random.nextInt(words.size() + 1);
        StringBuilder text = new StringBuilder(blanks(0));
        for (int i = 0; i < words.size(); i++) {
            text.append(i == place ? added : "").append(words.get(i)).append(blanks(1));
        }
        return text.append(place == words.size() ? added : "").toString();
    }

    @Test
    void everySpellingOfUseIsRead() {
        for (int i = 0; i < PropertyTestBudget.of(2_000, 50_000); i++) {
            List<String> words = List.of(any(List.of("USE", "use", "UsE")), any(List.of("shop", "`shop`")));
            String plain = spelled(words, "") + any(ENDS);
            assertThat(database(plain)).as(plain).isEqualTo("shop");
            String executed = "/*!50000 USE /* x\n */ shop -- \n*/" + blanks(0) + any(ENDS);
            assertThat(database(executed)).as(executed).isEqualTo("shop");
            String optional = spelled(words, any(OPTIONAL)) + any(ENDS);
            assertThat(database(optional)).as(optional).isEmpty();
            String several = random.nextBoolean() ? any(OTHER) + ";" + plain : plain + "\n;" + any(OTHER);
            assertThat(database(several)).as(several).isEmpty();
            String none = spelled(List.of(any(OTHER)), "") + any(ENDS);
            assertThat(database(none)).as(none).isNull();
        }
    }

    /** Reads the text line by line, with a reader that is saved and restored after some lines. */
    private String database(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        UseStatement reader = new UseStatement();
        reader.start();
        for (String line : text.split("\n", -1)) {
            byte[] part = ("  " + line).getBytes(StandardCharsets.ISO_8859_1);
            reader.line(part, 2, part.length);
            if (random.nextBoolean()) {
                byte[] state = reader.write();
                reader = new UseStatement();
                reader.read(state);
            }
        }
        String found = reader.database();
        assertThat(use.database(bytes, 0, bytes.length)).as(text).isEqualTo(found);
        return found;
    }

    @Test
    void aTextThatWasStoppedOrNeverStartedChangesNothing() {
        byte[] bytes = "USE shop".getBytes(StandardCharsets.US_ASCII);
        UseStatement reader = new UseStatement();
        reader.line(bytes, 0, bytes.length);
        assertThat(reader.database()).isNull();
        reader.start();
        reader.line(bytes, 0, bytes.length);
        assertThat(reader.isStarted()).isTrue();
        reader.stop();
        assertThat(reader.database()).isNull();
        assertThat(reader.write()).isEmpty();
    }

    @Test
    void aNameThatIsLongerThanAnyNameIsUnknown() {
        byte[] bytes = ("USE " + "x".repeat(SessionTracker.MAX_NAME_LENGTH + 1)).getBytes(StandardCharsets.US_ASCII);
        assertThat(use.database(bytes, 0, bytes.length)).isEmpty();
        assertThat(use.database(bytes, 0, bytes.length - 1)).hasSize(SessionTracker.MAX_NAME_LENGTH);
    }
}
