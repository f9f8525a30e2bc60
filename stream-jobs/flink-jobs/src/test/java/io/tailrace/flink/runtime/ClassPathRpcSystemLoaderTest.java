package io.tailrace.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ServiceLoader;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.rpc.RpcSystem;
import org.apache.flink.runtime.rpc.RpcSystemLoader;
import org.apache.flink.runtime.rpc.exceptions.RpcLoaderException;
import org.junit.jupiter.api.Test;

/** The class path of tests has Flink's own loader, and not the jar that it unpacks. */
class ClassPathRpcSystemLoaderTest {

    @Test
    void flinkTriesItBeforeItsOwnLoader() {
        RpcSystemLoader first = ServiceLoader.load(RpcSystemLoader.class).stream()
                .map(ServiceLoader.Provider::get)
                .min((one, other) -> Integer.compare(one.getLoadPriority(), other.getLoadPriority()))
                .orElseThrow();
        assertThat(first).isInstanceOf(ClassPathRpcSystemLoader.class);
    }

    @Test
    void withoutTheJarFlinkFallsBackToItsOwnLoader() {
        assertThatThrownBy(() -> new ClassPathRpcSystemLoader().loadRpcSystem(new Configuration()))
                .isInstanceOf(RpcLoaderException.class);
        try (RpcSystem loaded = RpcSystem.load(new Configuration())) {
            assertThat(loaded).isNotNull();
        }
    }
}
