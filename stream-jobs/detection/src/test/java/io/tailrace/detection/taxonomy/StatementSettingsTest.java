package io.tailrace.detection.taxonomy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StatementSettingsTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "set statement a=? for drop table t | drop table t",
                "set statement a=?for drop table t | drop table t",
                "set statement a=?, b=off for(select ?) | (select ?)",
                "set statement a=@wait_for for drop table t | drop table t",
                "set statement a=@a?for for drop table t | drop table t",
                "set statement a=@`x for select ?` for drop table t | drop table t",
                "set statement a=? for select b from t for update | select b from t for update",
                "set statement a=? for | set statement a=? for",
                "set statement a=`b | set statement a=`b",
                "select a from t for update | select a from t for update"
            })
    void onlyTheStatementAfterTheSettingsRemains(String fingerprint, String statement) {
        assertThat(StatementSettings.removed(fingerprint)).isEqualTo(statement);
    }
}
