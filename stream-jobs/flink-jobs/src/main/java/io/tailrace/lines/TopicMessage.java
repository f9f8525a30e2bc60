package io.tailrace.lines;

/**
 * The value of one Kafka record and its place.
 *
 * @param topic it was read from
 * @param partition of the topic
 * @param offset of the record in its partition
 * @param value empty where Kafka has none
 */
public record TopicMessage(String topic, int partition, long offset, byte[] value) {}
