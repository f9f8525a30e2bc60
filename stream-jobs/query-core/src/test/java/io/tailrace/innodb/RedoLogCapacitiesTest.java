package io.tailrace.innodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedoLogCapacitiesTest {

    @Test
    void instancesHaveSeparateCapacitiesAndOthersTheDefault() {
        RedoLogCapacities capacities = RedoLogCapacities.parse("db-1=1073741824, db=2=5,* = 100663296");
        assertThat(capacities.of("db-1")).isEqualTo(1L << 30);
        assertThat(capacities.of("db=2")).isEqualTo(5);
        assertThat(capacities.of("another")).isEqualTo(96L << 20);
    }

    @Test
    void anEmptyTextHasNoCapacities() {
        assertThat(RedoLogCapacities.parse("").of("db-1")).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"db-1", "=5", "db-1=", "db-1=0", "db-1=-1", "db-1=1G", "db-1=99999999999999999999"})
    void unreadablePairsAreNamed(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RedoLogCapacities.parse("db-2=7, " + text))
                .withMessageContaining(text);
    }

    @Test
    void duplicateInstancesAreRejected() {
        assertThatIllegalArgumentException().isThrownBy(() -> RedoLogCapacities.parse("a=1,a=2"));
    }
}
