package io.tailrace.detection.detector;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoredSampleTest {

    @ParameterizedTest
    @ValueSource(strings = {"", "select ?", "Ωmega", "\ud83d\ude00", "\u0000"})
    void bytesAreThoseOfASample(String statement) throws IOException {
        AlertSample sample = new AlertSample(-5, "id", statement.repeat(100));
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        sample.write(new DataOutputStream(expected));
        StoredSample read = StoredSample.read(new DataInputStream(new ByteArrayInputStream(expected.toByteArray())));

        assertThat(read.sample()).isEqualTo(sample);
        assertThat(written(read)).isEqualTo(expected.toByteArray());
        assertThat(written(StoredSample.of(sample))).isEqualTo(expected.toByteArray());
    }

    private static byte[] written(StoredSample sample) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        sample.write(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }
}
