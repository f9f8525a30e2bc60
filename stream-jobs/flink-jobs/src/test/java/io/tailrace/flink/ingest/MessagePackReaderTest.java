package io.tailrace.flink.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The encodings are those of the msgpack specification. */
class MessagePackReaderTest {

    @ParameterizedTest
    @CsvSource({
        "7f, 127",
        "cc80, 128",
        "cd0100, 256",
        "ceffffffff, 4294967295",
        "cf0000000100000000, 4294967296",
        "d07f, 127",
        "d17fff, 32767",
        "d20000ffff, 65535",
        "d30000000000000001, 1"
    })
    void readsEveryIntegerThatIsNotNegative(String hex, long expected) {
        MessagePackReader reader = reader(hex);
        assertThat(reader.readUnsigned()).isEqualTo(expected);
        assertThat(reader.failed()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ff", "d0ff", "d3ffffffffffffffff", "cfffffffffffffffff", "a131", "cd01", ""})
    void refusesWhatIsNoSuchInteger(String hex) {
        MessagePackReader reader = reader(hex);
        assertThat(reader.readUnsigned()).isZero();
        assertThat(reader.failed()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"cb3ff8000000000000, 1500000", "ca3fc00000, 1500000", "02, 2000000", "d700000000011dcd6500, 1500000"})
    void readsSecondsAsFluentBitWritesThem(String hex, long micros) {
        MessagePackReader reader = reader(hex);
        assertThat(reader.readSeconds()).isEqualTo(micros);
        assertThat(reader.failed()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "c0",
                "c3",
                "05",
                "e0",
                "cb3ff8000000000000",
                "a3616263",
                "c403000000",
                "da0001ff",
                "93010203",
                "dc0002c0c0",
                "82a16101a16202",
                "de0001a16101",
                "d4017f",
                "d5010000",
                "d601aabbccdd",
                "d800000000000000000000000000000000ff",
                "c7020500ff"
            })
    void skipsAnyValueExactly(String hex) {
        MessagePackReader reader = reader(hex);
        reader.skip();
        assertThat(reader.failed()).isFalse();
        assertThat(reader.position()).isEqualTo(hex.length() / 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"c1", "a5ff", "dbffffffff", "ddffffffff", "dfffffffff"})
    void refusesWhatEndsTooEarly(String hex) {
        MessagePackReader reader = reader(hex);
        reader.skip();
        assertThat(reader.failed()).isTrue();
    }

    @Test
    void refusesWhatIsTooDeep() {
        MessagePackReader reader = reader("91".repeat(5000) + "c0");
        reader.skip();
        assertThat(reader.failed()).isTrue();
    }

    private static MessagePackReader reader(String hex) {
        MessagePackReader reader = new MessagePackReader();
        reader.reset(HexFormat.of().parseHex(hex));
        return reader;
    }
}
