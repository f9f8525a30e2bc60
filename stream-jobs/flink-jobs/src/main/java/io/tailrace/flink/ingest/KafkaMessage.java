package io.tailrace.flink.ingest;

/**
 * One Kafka record and its position.
 *
 * @param topic topic of the record
 * @param partition partition of the topic
 * @param offset offset of the record in its partition
 * @param key the instance, with which collectors key their messages; empty if the record has none
 * @param value empty if the record has none
 */
public record KafkaMessage(String topic, int partition, long offset, byte[] key, byte[] value) {}
