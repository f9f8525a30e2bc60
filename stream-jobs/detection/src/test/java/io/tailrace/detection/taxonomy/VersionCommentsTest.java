package io.tailrace.detection.taxonomy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class VersionCommentsTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/*!? drop table x */ | drop table x",
                "/*m!? drop table x */ | drop table x",
                "select ?/*!union*//*!all*//*!select*/? | select ? union all select ?",
                "select a where b=? and /*!? sleep*/(?) | select a where b=? and sleep(?)",
                "select /*!? sql_no_cache */ * from t where a in (select b) | "
                        + "select sql_no_cache * from t where a in (select b)",
                "show /*!? global */ status | show global status",
                "/*!select*/ ? /*repeat union*/ | select ? /*repeat union*/"
            })
    void codeStaysAndMarksGo(String fingerprint, String plain) {
        assertThat(VersionComments.areIn(fingerprint)).isTrue();
        assertThat(VersionComments.removed(fingerprint)).isEqualTo(plain);
    }

    @ParameterizedTest
    @ValueSource(strings = {"select ?", "select ? /*repeat union all*/", "select a/b", "select a /*", ""})
    void others(String fingerprint) {
        assertThat(VersionComments.areIn(fingerprint)).isFalse();
    }
}
