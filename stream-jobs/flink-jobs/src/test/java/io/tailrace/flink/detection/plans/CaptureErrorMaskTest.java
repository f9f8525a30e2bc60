package io.tailrace.flink.detection.plans;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CaptureErrorMaskTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "1146: Table 'shop.x' doesn't exist | 1146: Table 'shop.x' doesn't exist",
                "1142: SELECT command denied to user 'a'@'b' for table 'orders' "
                        + "| 1142: SELECT command denied to user 'a'@'b' for table 'orders'",
                "3955: Access denied for user 'a'@'b'. Account is blocked "
                        + "| 3955: Access denied for user 'a'@'b'. Account is blocked",
                "1064: You have an error near 'hunter2' at line 1 | 1064: You have an error near ?",
                "1292: Truncated incorrect DOUBLE value: 'geheim' | 1292: Truncated incorrect DOUBLE value: ?",
                "near 'geheim' | near ?",
                "calls \"geheim\", which may be a stored function | calls ?",
                "holds more than one statement | holds more than one statement",
            })
    void onlyMessagesWithNamesAreShownCompletely(String error, String shown) {
        assertThat(CaptureErrorMask.shown(error)).isEqualTo(shown);
    }
}
