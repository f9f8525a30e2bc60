package io.tailrace.flink.normalize;

import io.tailrace.flink.ingest.MessagePack;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A growing slow log of MySQL 8.0, which is shipped line by line like by a collector. */
final class SlowLogFile implements AutoCloseable {

    private static final String BANNER =
            "/usr/sbin/mysqld, Version: 8.0.46 (MySQL Community Server - GPL). started with:\n"
                    + "Tcp port: 3306  Unix socket: /var/run/mysqld/mysqld.sock\n"
                    + "Time                 Id Command    Argument\n";

    private final String path;
    private final Instant start = Instant.now().truncatedTo(ChronoUnit.HOURS);
    private final KafkaProducer<byte[], byte[]> producer;
    private final List<Future<RecordMetadata>> sent = new ArrayList<>();
    private final ByteArrayOutputStream content = new ByteArrayOutputStream();
    private long offset;
    private long entries;

    SlowLogFile(String kafka, String path) {
        this.path = path;
        Properties properties = new Properties();
        properties.put("bootstrap.servers", kafka);
        properties.put("linger.ms", "20");
        // Kafka starts beside many other processes: by default a record expires after two minutes.
        properties.put("max.block.ms", "300000");
        properties.put("delivery.timeout.ms", "300000");
        producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
        ship(BANNER);
    }

    /** Returns the number of bytes so far. */
    long size() {
        return offset;
    }

    /** Returns the number of entries so far. */
    long entries() {
        return entries;
    }

    /** Returns the bytes so far. */
    byte[] content() {
        return content.toByteArray();
    }

    /** Sends a message to another topic, and returns when Kafka has stored it. */
    void send(String topic, String key, byte[] value) throws Exception {
        producer.send(new ProducerRecord<>(topic, key.getBytes(StandardCharsets.UTF_8), value))
                .get();
    }

    /** Appends entries; returns when Kafka has stored all lines. */
    void append(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            ship(entry(entries++));
        }
        producer.flush();
        for (Future<RecordMetadata> line : sent) {
            line.get();
        }
        sent.clear();
    }

    private String entry(long number) {
        Instant time = start.plusMillis(number);
        return "# Time: " + time.plusNanos(1000) + "\n# User@Host: app[app] @ web-1 [10.0.0.1]  Id:    41\n"
                + "# Query_time: 0.25  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: " + number + "\n"
                + "SET timestamp=" + time.getEpochSecond() + ";\n"
                + "SELECT name FROM customers\nWHERE id = " + number + ";\n";
    }

    private void ship(String text) {
        for (String line : lines(text)) {
            byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
            byte[] key = "db-1".getBytes(StandardCharsets.UTF_8);
            sent.add(producer.send(
                    new ProducerRecord<>("tailrace.slowlog.lines", key, MessagePack.line(path, offset, bytes))));
            content.writeBytes(bytes);
            content.write('\n');
            offset += bytes.length + 1;
        }
    }

    private static List<String> lines(String text) {
        return new ArrayList<>(text.lines().toList());
    }

    @Override
    public void close() {
        producer.close();
    }
}
