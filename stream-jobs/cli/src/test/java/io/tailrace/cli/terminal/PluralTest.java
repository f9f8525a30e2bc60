package io.tailrace.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PluralTest {

    @Test
    void theNounAgreesWithTheNumber() {
        assertThat(Plural.of(0, "rule")).isEqualTo("0 rules");
        assertThat(Plural.of(1, "rule")).isEqualTo("1 rule");
        assertThat(Plural.of(2, "rule")).isEqualTo("2 rules");
        assertThat(Plural.of(1, "entry", "entries")).isEqualTo("1 entry");
        assertThat(Plural.of(2, "entry", "entries")).isEqualTo("2 entries");
    }
}
