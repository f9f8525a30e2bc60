package io.tailrace.servers;

/**
 * Provides one Kafka for all test classes of a JVM, because two JVMs format and start it. A class must read only topics
 * that no other class writes.
 */
public final class SharedKafka extends SharedServer<KafkaServer> {

    public SharedKafka() {
        super(KafkaServer.class, KafkaServer::start);
    }
}
