package io.tailrace.flink.ingest;

/**
 * One Kafka record and its place.
 *
 * @param topic it was read from
 * @param partition of the topic
 * @param offset of the record in its partition
 * @param key the instance, as collectors key their messages; empty where Kafka has none
 * @param value empty where Kafka has none
 */
public record KafkaMessage(String topic, int partition, long offset, byte[] key, byte[] value) {}
