package io.tailrace.fingerprint.flag;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.fingerprint.Fingerprinter;
import io.tailrace.fingerprint.NormalizedStatement;
import io.tailrace.fingerprint.StatementFlags;
import io.tailrace.lexer.ByteText;
import io.tailrace.lexer.SqlMode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Flags of conditions that always have the same result, and of changes of every row. */
class ConstantConditionFlagsTest {

    private static List<String> ofCondition(String condition) {
        return StatementFlags.of("SELECT a FROM t WHERE id=5 " + condition);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "OR 1=1",
                "oR 1 = 1 -- -",
                "OR 'a'='a'",
                "OR 'a' = 'A '''",
                "OR ''=''",
                "OR 2>1",
                "OR 1",
                "OR TRUE LIMIT 1",
                "OR NOT 0",
                "OR NOT 1=2",
                "OR ((1=1))",
                "OR (1)=(1)",
                "|| 1=1",
                "|| '1'='1'",
                "|| '1'",
                "|| 1 || b=2",
                "AND (b=4) || 1",
                "XOR 1=1",
                "OR 1.0=1",
                "OR '1'=1",
                "OR -1=-1",
                "OR 1<=>1",
                "OR NULL<=>NULL",
                "OR 'a' LIKE 'a'",
                "OR 'a' LIKE '%'",
                "OR 'abc' LIKE 'A_%c%'",
                "OR length('x') = 1",
                "OR coalesce(NULL, 'x') = 'X'",
                "OR nullif('x', 'y') = 'x'",
                "OR length(x'61') = 1",
                "OR 'a' RLIKE 'a'",
                "OR 5 BETWEEN 5 AND 5",
                "OR 1 BETWEEN 0 AND 2",
                "OR 1 NOT BETWEEN 2 AND 3",
                "OR ascii('b')=98",
                "OR JSON_LENGTH('{}') = 0",
                "OR IS_IPV4('10.0.0.1')",
                "OR coalesce(NULL, 1)",
                "OR isnull(NULL)",
                "OR if(1, 2, 3) = 2",
                "OR concat('a', upper('b')) = 'aB'",
                "OR (SELECT 1)",
                "OR (SELECT 1) = (SELECT 1)",
                "OR 1 IS NOT NULL",
                "OR '' IS NOT NULL LIMIT 1",
                "OR 'x' IN ('y', 'x')",
                "OR ~0",
                "OR !~1",
                "OR id=id",
                "OR t.id = t.id",
                "OR `a` LIKE `a`",
                "OR 0x61=0x61",
                "OR x'61'=x'61'",
                "OR 3*2*1=6 AND b=c",
                "AND a=.0OR 1=1",
                "AND a=1e-1OR 1.0OR b=2",
                "/*!OR*/ 1=1",
                "/*!50000OR*/ 1=1",
                "/**/OR/**/1/**/=/**/1",
                "OR 1=1#",
                "OR/*!50000 1=1*/",
                "OR 1=1) ORDER BY a",
                "OR TRUE) x",
                "OR NOT FALSE) x JOIN b",
                "OR (NOT (0))) AS x"
            })
    void alwaysTrueAfterOrIsATautology(String condition) {
        assertThat(ofCondition(condition)).contains("tautology");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "OR 1=0",
                "OR (1=0)",
                "OR 0=1",
                "OR 1<>1",
                "OR 1!=1",
                "AND 1=0",
                "AND (1=0)",
                "OR 0",
                "OR FALSE",
                "OR NULL",
                "OR 'a' IS NULL",
                "OR NULL IS NULL",
                "OR b=5",
                "OR 5=b",
                "OR 5 IN (1,2)",
                "OR 5 BETWEEN b AND c",
                "OR a=b",
                "OR a<>a",
                "OR f(1)=f(1)",
                "OR a=a+1",
                "OR ?=?",
                "AND a = 'x OR 1=1'",
                "AND a = b || '1'",
                "AND b || '0' = '50'",
                "AND upper(b) || '1' = c",
                "AND c LIKE '%' || '1' || '%'",
                "AND a = \"it's\" AND b = ' OR 1=1 '",
                "/* OR 1=1 */",
                "-- OR 1=1"
            })
    void otherConditionsAreNotFlagged(String condition) {
        assertThat(ofCondition(condition)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "AND 2=2",
                "AND 1=2",
                "AND 'a'='b'",
                "AND 5 LIKE 6",
                "AND 5=5",
                "&& 1=2",
                "OR 5=6",
                "OR 'abc' LIKE '%x%'",
                "OR 'abc' LIKE 'ab_d'",
                "OR length('abc') = 0",
                "AND length('a') = 0",
                "AND length('a') = 1",
                "OR coalesce('x', '') = ''",
                "OR trim(' x ') = ''",
                "OR nullif('x', '') = ''",
                "AND 5 NOT BETWEEN 0 AND 5",
                "AND NOT 5=6",
                "AND (5=6)"
            })
    void literalsComparedWithLiteralsAfterAConditionAreFlagged(String condition) {
        assertThat(ofCondition(condition)).containsExactly("constant_condition");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "AND ('x'='y' OR b='x')",
                "AND ('' = '' OR b = '')",
                "AND ('ALL'='all' OR b IN ('all', 'c'))",
                "AND (-1 = -1 OR t.b = -1)",
                "AND ((3=0) OR (b=3))",
                "AND ('x' = '' OR b LIKE '%x%')",
                "AND ('x' = '' OR b = 'x' OR c = 'x')",
                "AND ('x' = '' OR 'x' = b)",
                "AND (b = 'x' OR 'x' = 'all')",
                "AND (b = 'x' OR c = 'x' OR 'x' = 'all')",
                "AND (b >= 3 OR 3 = 2)"
            })
    void optionalFiltersAreNoProbes(String condition) {
        assertThat(ofCondition(condition)).containsExactly("optional_filter");
    }

    /** A text that ends the literal of a template in parentheses gives the same form as a filter whose literals are equal. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "AND (b = '' OR '' = '')",
                "AND (b = 'a' OR 'a'='a')",
                "AND (b = 'admin' OR 'admin'='admin')",
                "AND (b = 'x' OR 'all'='all')",
                "AND (b = 'all' OR 'all'='all') OR 'x'='x'",
                "AND ('x' = '' OR b = 'x') OR 'x y'='x y'",
                "OR b = 'all' OR 'all'='all'",
                "AND (b = 0 OR 0=0)",
                "OR ('x'='x' OR b='x')",
                "OR 'x' 'y'='xy'",
                "OR _utf8mb4'x'='x'",
                "OR 'x'='x' OR b='x'"
            })
    void equalLiteralsAfterOrRemainATautology(String condition) {
        assertThat(ofCondition(condition)).contains("tautology").doesNotContain("optional_filter");
    }

    /** Rules report it once for an account and statement, because the template of the filter has the same class. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "AND (b = 'all' OR 'all' = 'all')",
                "AND (b = '*' OR '*' = '*')",
                "AND (c = 'n' OR 'n' = 'all') AND (b = 'all' OR 'all' = 'all')"
            })
    void aFilterOfEqualLiteralsHasBothFlags(String condition) {
        assertThat(ofCondition(condition)).containsExactlyInAnyOrder("tautology", "optional_filter");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "AND ('x'='y' OR b='z')",
                "AND ('a'='a' OR b='a')",
                "AND ('1'='1' OR b='1')",
                "AND ('a' ''='a' OR b='a')",
                "AND ('a'=CHAR(97) OR b='a')",
                "AND 'x'='y' OR b='x'",
                "AND ('x'='y') OR b='x'",
                "AND ('x'='y' OR b='x' AND c=1)",
                "AND ('x'='y' OR f(b)='x')",
                "AND ('x'='y' OR b=c)",
                "OR 'x'='y'",
                "AND (b='x' AND c='x' OR 'x'='y')",
                "AND (b='z' OR 'x'='y')",
                "AND (b='x' OR 'x'='y' AND c=1)"
            })
    void conditionsThatOnlyResembleFiltersAreProbes(String condition) {
        assertThat(ofCondition(condition)).contains("constant_condition").doesNotContain("optional_filter");
    }

    @Test
    void aFirstConditionOfLiteralsIsAnIdiom() {
        assertThat(StatementFlags.of("SELECT * FROM t WHERE 1=0")).isEmpty();
        assertThat(StatementFlags.of("SELECT * FROM t WHERE 1=1 AND a=2")).isEmpty();
        assertThat(StatementFlags.of("INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE id=id"))
                .isEmpty();
        assertThat(StatementFlags.of("UPDATE t SET a = 1 WHERE (1=0)")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DELETE FROM t WHERE 1=1",
                "DELETE FROM t WHERE 1",
                "DELETE FROM t WHERE (TRUE)",
                "DELETE FROM t WHERE ((1)=(1))",
                "DELETE FROM t WHERE NOT 0",
                "DELETE FROM t WHERE 'a' LIKE 'a' ORDER BY id",
                "DELETE FROM t WHERE id=id RETURNING id",
                "DELETE FROM t WHERE 1=1 OR id=2",
                "DELETE FROM t WHERE 1 OR id=2",
                "DELETE FROM t WHERE (1=1) OR id=2 LIMIT 5",
                "DELETE FROM t WHERE TRUE IS TRUE",
                "DELETE FROM t WHERE 0 IS NOT TRUE OR id=2",
                "DELETE FROM t WHERE 5 BETWEEN 1 AND 9;",
                "UPDATE t SET a=1 WHERE 2>1 LIMIT 5",
                "/*!50000 DELETE FROM t WHERE 1=1 */"
            })
    void whereThatMatchesEveryRowIsFlagged(String statement) {
        assertThat(StatementFlags.of(statement)).containsExactly("every_row");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DELETE FROM t WHERE 1=0",
                "DELETE FROM t WHERE 0",
                "DELETE FROM t WHERE ?",
                "DELETE FROM t WHERE ?=?",
                "DELETE FROM t WHERE id=1",
                "DELETE FROM t WHERE 1=1 AND a=2",
                "DELETE FROM t WHERE (1=1 AND a=2) OR b=3",
                "DELETE FROM t WHERE a=2 OR (1=1 AND b=3)",
                "DELETE FROM t WHERE a=2 AND (1=1 OR b=3)",
                "DELETE FROM t WHERE 1=1 AND (2=2 OR b=3) AND a=2",
                "DELETE FROM t WHERE CASE WHEN a=2 OR 1=1 THEN b END",
                "DELETE FROM t WHERE 1 IS FALSE OR a=2",
                "DELETE FROM t WHERE (1=1 OR a=1) AND b=2",
                "DELETE FROM t WHERE 1=1 XOR a=1",
                "DELETE FROM t WHERE 1 IN (a, b)",
                "DELETE FROM t WHERE a IN (SELECT b FROM u WHERE 1=1)",
                "DELETE a FROM a JOIN b ON 1=1",
                "DELETE FROM t"
            })
    void whereThatMayExcludeRowsIsNotFlagged(String statement) {
        assertThat(StatementFlags.of(statement)).doesNotContain("every_row");
    }

    @Test
    void quotesAreThoseOfTheServersMode() {
        Fingerprinter noEscapes = new Fingerprinter(new SqlMode(false, true));
        byte[] path = ByteText.bytes("SELECT a FROM t WHERE b = 'c:\\' AND c = ' OR 1=1 OR ' AND d = '\\'");
        NormalizedStatement shape = noEscapes.statement(path, 0, path.length);
        assertThat(noEscapes.flags(shape, path, 0, path.length)).isEmpty();

        Fingerprinter ansi = new Fingerprinter(new SqlMode(true, false));
        byte[] names = ByteText.bytes("SELECT a FROM t WHERE b = 1 OR \"c\" = \"d\"");
        shape = ansi.statement(names, 0, names.length);
        assertThat(ansi.flags(shape, names, 0, names.length)).isEmpty();
    }

    @Test
    void conditionsOfFrameworksAreNotFlagged() {
        assertThat(ofCondition("AND 1=1")).isEmpty();
        assertThat(StatementFlags.of("SELECT a FROM t WHERE (a.b = 3 AND 1=1) LIMIT 1 OFFSET 0"))
                .isEmpty();
        assertThat(ofCondition("AND 1=2")).containsExactly("constant_condition");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "OR (SELECT 1 FROM t)",
                "OR 1 = (SELECT 1 FROM t)",
                "OR ascii(b)=98",
                "OR has_role('admin')",
                "OR concat('a', b) = 'ab'",
                "OR 5 IN (1, 2)",
                "OR 5 IS NULL",
                "OR 5 IS NOT NULL AND b=5",
                "OR b IS NOT NULL",
                "OR b LIKE '%'",
                "OR b IN ('x')",
                "AND 'x' <> ''",
                "AND 12 <> 0 AND 0 = 1",
                "AND false = 1",
                "AND 5 IN (5)",
                "AND 'x' IS NOT NULL"
            })
    void conditionsOfDataOrOfTemplatesHaveNoFlag(String condition) {
        assertThat(ofCondition(condition)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "DELETE FROM t WHERE id > 0",
                "DELETE FROM t WHERE id=2 OR 1=1",
                "DELETE FROM t WHERE (1=1 AND a=2) OR id=3 AND b=4 OR 2=2",
                "DELETE FROM t WHERE a BETWEEN 1 AND 2 OR id > 0 OR b=2",
                "DELETE FROM t WHERE (`id` >= -1)",
                "DELETE FROM t WHERE t.id <> 0",
                "DELETE FROM t WHERE `t`.`id` IS NOT NULL",
                "DELETE FROM t WHERE a LIKE '%' AND 1=1",
                "DELETE FROM t WHERE memo LIKE '%%' LIMIT 5",
                "UPDATE t SET a=1 WHERE id != 0 ORDER BY id",
                "SET STATEMENT max_statement_time=1 FOR DELETE FROM t WHERE id > 0",
                "DELETE FROM shop.Notes WHERE note_id > 0",
                "DELETE n FROM note n WHERE n.note_id IS NOT NULL",
                "UPDATE `claims` SET a=1 WHERE ClaimId IS NOT NULL",
                "DELETE FROM t WHERE NOT id IS NULL",
                "DELETE FROM t WHERE NOT (id IS NULL) LIMIT 5",
                "DELETE FROM t WHERE id NOT IN (0)",
                "DELETE FROM t WHERE id NOT IN (-1, 0) AND 1=1",
                "UPDATE t SET a=1 WHERE id BETWEEN 0 AND 999999999",
                "DELETE FROM note WHERE note_id BETWEEN 1 AND 4294967295 OR a=2",
                "UPDATE fin.bank_accounts SET a=1 WHERE account_id >= 0",
                "SELECT 1; DELETE FROM t WHERE id > 0"
            })
    void keysThatEveryRowHasSelectEveryRow(String statement) {
        assertThat(StatementFlags.of(statement)).contains("every_row");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a FROM t WHERE id > 0",
                "DELETE FROM t WHERE id > 5",
                "DELETE FROM t WHERE id = 0",
                "DELETE FROM t WHERE id < 0",
                "DELETE FROM t WHERE paid > 0",
                "DELETE FROM t WHERE parent_id > 0",
                "DELETE FROM t WHERE id IS NULL",
                "DELETE FROM t WHERE ended IS NOT NULL",
                "DELETE FROM notes WHERE patient_id IS NOT NULL",
                "DELETE FROM t WHERE id > 0 AND a = 1",
                "DELETE FROM t WHERE NOT id > 0",
                "DELETE FROM t WHERE NOT ended IS NULL",
                "DELETE FROM t WHERE id NOT IN (0, 5)",
                "DELETE FROM t WHERE id NOT IN (SELECT a FROM b)",
                "DELETE FROM t WHERE id IN (0)",
                "DELETE FROM t WHERE id BETWEEN 0 AND 4999",
                "DELETE FROM t WHERE id BETWEEN 5000 AND 999999999",
                "DELETE FROM t WHERE age BETWEEN 0 AND 999999999",
                "DELETE FROM bank_accounts WHERE count_id > 0",
                "DELETE FROM t WHERE a LIKE 'b%'"
            })
    void otherConditionsDoNotSelectEveryRow(String statement) {
        assertThat(StatementFlags.of(statement)).doesNotContain("every_row");
    }
}
