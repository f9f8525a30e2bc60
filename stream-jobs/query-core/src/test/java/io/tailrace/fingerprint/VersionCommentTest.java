package io.tailrace.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.flag.EventFlag;
import io.tailrace.lexer.ByteText;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Version comments that some servers run and others skip. */
class VersionCommentTest {

    private static final String AMBIGUOUS = EventFlag.VERSION_COMMENT_AMBIGUOUS.wireName();

    private final Fingerprinter fingerprinter = new Fingerprinter();
    private byte[] bytes;

    private NormalizedStatement shape(String statement) {
        bytes = ByteText.bytes(statement);
        return fingerprinter.statement(bytes, 0, bytes.length);
    }

    private List<String> flags(NormalizedStatement shape) {
        return fingerprinter.flags(shape, bytes, 0, bytes.length);
    }

    /** Nothing is written that is a literal, or hides code, for servers that skip or run the comment. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0001',
            value = {
                "/*!99998 ' */ DROP DATABASE shop -- ' | /*!?",
                "/*!99998 ' */ GRANT ALL ON *.* TO evil2 -- ' | /*!?",
                "SELECT a /*!99998 ' */ FROM customers -- ' | select a /*!?",
                "SELECT 1 /*!99998 ' */ FROM customers -- ' | select ? /*!?",
                "SELECT 'a' /*!99998 ' */ FROM customers -- ' | select ?",
                "SELECT /*!99998 ' */ ' card 4111 hunter ' /*!99998 ' */ FROM t | select /*!?",
                "SELECT /*M! ' */ ' card 4111 hunter ' /*M! ' */ FROM t | select /*!?",
                "SELECT a /*M!100100 \" */ FROM customers -- \" | select a /*!?",
                "SELECT a /*!80100 ` */ FROM customers -- ` | select a /*!?",
                "SELECT a /*!80100 # */ FROM customers\\n */ | select a /*!?",
                "SELECT a /*!80100 -- */ FROM customers\\n */ | select a /*!?",
                "SELECT a /*!80100 /*!80101 b */ FROM customers */ | select a /*!?",
                "SELECT a /*M! /* */ FROM customers */ | select a /*!?",
                "SELECT a /*!100100 ' */ FROM customers -- ' | select a /*!?",
                "SELECT a /*!80100 ' */ FROM customers | select a /*!?",
                "/*!80018 SET PASSWORD ' */ DROP DATABASE shop -- ' | /*!?",
            })
    void whatDependsOnTheServerIsNotWritten(String statement, String fingerprint) {
        NormalizedStatement shape = shape(statement.replace("\\n", "\n"));
        assertThat(shape.fingerprint()).isEqualTo(fingerprint);
        assertThat(shape.tables().complete()).isFalse();
        assertThat(flags(shape)).contains(AMBIGUOUS);
        assertThat(fingerprinter.accounts(shape, bytes, 0, bytes.length, "")).isEmpty();
        assertThat(fingerprinter.accountsAreIncomplete()).isTrue();
        assertThat(shape(fingerprint).fingerprint()).isEqualTo(fingerprint);
    }

    @Test
    void aCommandAfterSuchAStatementHasNoFlag() {
        shape("SELECT a /*!99998 ' */ FROM customers -- '");
        assertThat(fingerprinter.isDoubtful()).isTrue();
        bytes = ByteText.bytes("administrator command: Quit");
        NormalizedStatement quit = fingerprinter.administratorCommand(bytes, 0, bytes.length);
        assertThat(flags(quit)).isEmpty();
        assertThat(fingerprinter.accounts(quit, bytes, 0, bytes.length, "")).isEmpty();
        assertThat(fingerprinter.accountsAreIncomplete()).isFalse();
        assertThat(fingerprinter.isDoubtful()).isFalse();
    }

    /** A comment for no server may contain one other comment; the content of one for every server is code. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\u0001',
            value = {
                "SELECT a /*!99999 /* */ ' */ FROM customers -- ' | select a from customers",
                "/*!999999 it's */ DROP DATABASE shop | drop database shop",
                "SELECT a /*!50000 , '*/' */ FROM t | select a /*!? , ? */ from t",
                "SELECT a /*! , '*/' */ FROM t | select a /*! , ? */ from t",
                "SELECT /*!50000 a,*/* FROM t | select /*!? a,*/* from t",
                "SELECT 2*/*c*/3 | select ?*?",
            })
    void otherCommentsAreReadAsServersDo(String statement, String fingerprint) {
        NormalizedStatement shape = shape(statement);
        assertThat(shape.fingerprint()).isEqualTo(fingerprint);
        assertThat(shape.tables().complete()).isTrue();
        assertThat(flags(shape)).doesNotContain(AMBIGUOUS);
    }

    @Test
    void accountsAfterACommentForNoServerAreRead() {
        NormalizedStatement shape = shape("GRANT FILE ON *.* TO decoy/*!99999 ' */, mallory");
        assertThat(fingerprinter.accounts(shape, bytes, 0, bytes.length, "")).containsExactly("decoy", "mallory");
        assertThat(fingerprinter.accountsAreIncomplete()).isFalse();
    }

    /** As in dumps: quotes that the comment closes are no doubt. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER g BEFORE INSERT ON t"
                        + " FOR EACH ROW SET NEW.a = 'it''s */' */",
                "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop` /*!40100 DEFAULT CHARACTER SET utf8mb4 */"
                        + " /*!80016 DEFAULT ENCRYPTION='N' */",
                "SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5'",
                "/*M!100616 SET @OLD_NOTE_VERBOSITY=@@NOTE_VERBOSITY, NOTE_VERBOSITY=0 */",
                "/*!999999\\- enable the sandbox mode */",
                "CREATE TABLE t (a INT /*!80023 INVISIBLE */) /*!80021 ENGINE_ATTRIBUTE='{\"a\": \"b\"}' */",
                "/*!80013 CREATE VIEW v AS SELECT 'a' /* one */ FROM t */",
                "/*!80018 CREATE USER a IDENTIFIED BY 'x' */",
                "SELECT a /*!80100 , b FROM t",
            })
    void quotesThatEndWithinTheCommentAreNoDoubt(String statement) {
        NormalizedStatement shape = shape(statement);
        assertThat(flags(shape)).doesNotContain(AMBIGUOUS);
        assertThat(fingerprinter.accountsAreIncomplete()).isFalse();
    }
}
