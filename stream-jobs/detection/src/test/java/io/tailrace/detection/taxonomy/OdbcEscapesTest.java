package io.tailrace.detection.taxonomy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OdbcEscapesTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "select a from t | select a from t",
                "select a from {oj t} | select a from t",
                "select{x a}from{x t}where b = {d ?} | select a from t where b = ?",
                "select a from { `x```t u } | select a from t u ",
                "select a from {`x` `u{v`} | select a from `u{v`",
                "select a from{?x shop.t} join (select b) | select a from shop.t join (select b)",
                "select {fn now()} | select now()",
                "select a from { | select a from ",
                "select a from {`x | select a from "
            },
            ignoreLeadingAndTrailingWhitespace = false)
    void theContentOfAnEscapeStays(String fingerprint, String plain) {
        assertThat(OdbcEscapes.removed(fingerprint.stripTrailing())).isEqualTo(plain.substring(1));
    }
}
