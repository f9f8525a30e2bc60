package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.junit.jupiter.api.Test;

/**
 * The expected bytes follow ClickHouse's documentation of RowBinary; {@link ClickHouseHttpClientTest} verifies them
 * with a server.
 */
class RowBinaryEncoderTest {

    private static final String TIME =
            "{\"name\":\"at\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"}}";

    @Test
    void layoutSurvivesItsText() {
        RowLayout layout =
                new RowBinaryEncoder("tailrace.ledger", record("{\"name\":\"s\",\"type\":\"string\"}")).layout();
        assertThat(RowLayout.parse(layout.text())).isEqualTo(layout);
        assertThat(layout.insertStatement())
                .isEqualTo("INSERT INTO tailrace.ledger (`at`,`s`,`after_checkpoint`) FORMAT RowBinary");
    }

    @Test
    void writesLongLengthsAsLeb128() {
        RowBinaryBuffer out = new RowBinaryBuffer(1);
        out.writeLength(300);
        assertThat(HexFormat.of().formatHex(out.toByteArray())).isEqualTo("ac02");
    }

    @Test
    void namesTheFieldItCannotEncode() {
        assertThatThrownBy(() -> new RowBinaryEncoder("t", record("{\"name\":\"f\",\"type\":\"float\"}")))
                .hasMessageContaining("field f");
    }

    @Test
    void aFieldOfTheTopicOnlyHasNoColumn() {
        Schema schema = record(
                "{\"name\":\"s\",\"type\":\"string\",\"clickhouse\":\"none\"},{\"name\":\"n\",\"type\":\"int\"}");
        GenericData.Record row = new GenericData.Record(schema);
        row.put("at", java.time.Instant.EPOCH);
        row.put("s", "text");
        row.put("n", 7);
        RowBinaryBuffer out = new RowBinaryBuffer(1);
        RowBinaryEncoder encoder = RowBinaryEncoder.atOnce("t", schema);
        encoder.encode(row, out);
        assertThat(encoder.layout().insertStatement()).isEqualTo("INSERT INTO t (`at`,`n`) FORMAT RowBinary");
        assertThat(HexFormat.of().formatHex(out.toByteArray())).isEqualTo("0000000000000000" + "07000000");
    }

    @Test
    void wantsATimeToPartitionBy() {
        Schema none = new Schema.Parser().parse("{\"type\":\"record\",\"name\":\"R\",\"fields\":[]}");
        assertThatThrownBy(() -> new RowBinaryEncoder("t", none)).hasMessageContaining("timestamp-micros");
    }

    @Test
    void daysBeforeTheEpochAreNegative() {
        RowBinaryEncoder encoder = new RowBinaryEncoder("t", record("{\"name\":\"s\",\"type\":\"string\"}"));
        GenericData.Record row = new GenericData.Record(record("{\"name\":\"s\",\"type\":\"string\"}"));
        row.put("at", java.time.Instant.parse("1969-12-31T23:59:59Z"));
        assertThat(encoder.day(row)).isEqualTo(-1);
    }

    private static Schema record(String field) {
        return new Schema.Parser()
                .parse("{\"type\":\"record\",\"name\":\"R\",\"fields\":[" + TIME + "," + field + "]}");
    }
}
