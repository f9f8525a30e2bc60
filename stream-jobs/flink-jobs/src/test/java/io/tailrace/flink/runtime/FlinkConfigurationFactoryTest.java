package io.tailrace.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.state.rocksdb.RocksDBConfigurableOptions;
import org.apache.flink.state.rocksdb.RocksDBOptions;
import org.junit.jupiter.api.Test;

class FlinkConfigurationFactoryTest {

    @Test
    void rocksDbHasAMemoryLimitAndPartitionedIndexesAndFilters() {
        Configuration flink = FlinkConfigurationFactory.of(settings("rocksdb"));

        assertThat(flink.get(RocksDBOptions.FIX_PER_SLOT_MEMORY_SIZE)).isEqualTo(MemorySize.ofMebiBytes(300));
        assertThat(flink.get(RocksDBOptions.USE_PARTITIONED_INDEX_FILTERS)).isTrue();
        assertThat(flink.get(RocksDBConfigurableOptions.USE_BLOOM_FILTER)).isTrue();
    }

    @Test
    void rocksDbTakesTheMemoryThatItIsGiven() {
        var backend = new EmbeddedRocksDBStateBackend()
                .configure(
                        FlinkConfigurationFactory.of(settings("rocksdb")),
                        getClass().getClassLoader());

        assertThat(backend.getMemoryConfiguration().getFixedMemoryPerSlot()).isEqualTo(MemorySize.ofMebiBytes(300));
        assertThat(backend.getMemoryConfiguration().isUsingPartitionedIndexFilters())
                .isTrue();
    }

    @Test
    void theHashMapBackendHasNoRocksDbOptions() {
        assertThat(FlinkConfigurationFactory.of(settings("hashmap")).keySet())
                .noneMatch(key -> key.contains("rocksdb"));
    }

    private static JobConfig settings(String backend) {
        return new JobConfig(
                "job", 2, 2, backend, 300, "file:/checkpoints", Duration.ofSeconds(1), "", WebUiConfig.plain(0), 0);
    }
}
