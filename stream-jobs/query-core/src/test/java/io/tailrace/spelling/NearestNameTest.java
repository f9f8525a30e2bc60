package io.tailrace.spelling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestNameTest {

    @ParameterizedTest
    @CsvSource({"'', '', 0", "'', ab, 2", "kitten, sitting, 3", "user, usre, 2", "verb, verbs, 1", "same, same, 0"})
    void countsCharactersToReplaceAddOrRemove(String a, String b, int changes) {
        assertThat(NearestName.changes(a, b)).isEqualTo(changes);
        assertThat(NearestName.changes(b, a)).isEqualTo(changes);
    }

    @Test
    void ofEquallySimilarNamesTheFirstIsFound() {
        assertThat(NearestName.of("vert", Stream.of("user", "verb", "very"))).contains("verb");
        assertThat(NearestName.of("vert", Stream.empty())).isEmpty();
    }
}
