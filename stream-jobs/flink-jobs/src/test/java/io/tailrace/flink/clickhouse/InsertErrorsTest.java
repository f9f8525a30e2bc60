package io.tailrace.flink.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InsertErrorsTest {

    /** Responses of ClickHouse 26.7 with three replicas, shortened. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            319 | Code: 319. DB::Exception: Unknown quorum status. The data was inserted in the local replica but we could not verify quorum. Reason: Timeout while waiting for quorum. (UNKNOWN_STATUS_OF_INSERT)
            285 | Code: 285. DB::Exception: Number of alive replicas (1) is less than requested quorum (2/3). (TOO_FEW_LIVE_REPLICAS)
            286 | Code: 286. DB::Exception: Quorum for previous write has not been satisfied yet. (UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE)
            242 | Code: 242. DB::Exception: Table is in readonly mode. (TABLE_IS_READ_ONLY)
            225 | Code: 225. DB::Exception: Cannot get ZooKeeper. (NO_ZOOKEEPER)
            999 | Code: 999. Coordination::Exception: Session expired. (KEEPER_EXCEPTION)
            """)
    void aBlockWaitsForReplicasAndKeeperAndTheLogNamesTheError(int code, String response) {
        assertThat(InsertErrors.isInData(code, response)).isFalse();
        assertThat(InsertErrors.ofReplicas(code))
                .get()
                .asString()
                .startsWith("code " + code + ' ' + InsertErrors.name(response) + ": ");
    }

    /** Network, memory, timeouts, full disk, too many parts: errors of one server, which have the server's own text. */
    @ParameterizedTest
    @ValueSource(ints = {0, 159, 210, 241, 243, 252, 497})
    void otherErrorsOfServersAreNoErrorsOfReplicas(int code) {
        assertThat(InsertErrors.ofReplicas(code)).isEmpty();
        assertThat(InsertErrors.isInData(code, "")).isFalse();
    }

    @Test
    void dataThatPartOfTheServersRefusedIsNotSplit() {
        String refused = "Code: 469. DB::Exception: Constraint is violated. (VIOLATED_CONSTRAINT)";
        assertThat(InsertErrors.isInData(469, refused)).isTrue();
        assertThat(InsertErrors.isInData(469, "Code: 469. DB::Exception: Received from r2:9000. " + refused))
                .isFalse();
        assertThat(InsertErrors.isInData(469, refused + " while pushing to view tailrace.receipts_mv"))
                .isFalse();
    }

    /** Responses of ClickHouse 26.7 to a block that its parser cannot read. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            33 | Code: 33. DB::Exception: Cannot read all data. Bytes read: 5. Bytes expected: 8: (at row 2) : While executing BinaryRowInputFormat. (CANNOT_READ_ALL_DATA)
            128 | Code: 128. DB::Exception: Too large array size: 562949953421311. The maximum is: 1073741824. To increase the maximum, use setting format_binary_max_array_size: While executing BinaryRowInputFormat. (TOO_LARGE_ARRAY_SIZE)
            131 | Code: 131. DB::Exception: Too large string size: 562949953421311. The maximum is: 1073741824. To increase the maximum, use setting format_binary_max_string_size: (at row 2) : While executing BinaryRowInputFormat. (TOO_LARGE_STRING_SIZE)
            """)
    void aBlockThatCannotBeParsedIsSplit(int code, String response) {
        assertThat(InsertErrors.isInData(code, response)).isTrue();
    }

    /**
     * Responses of ClickHouse 26.7 when a server of a shard was killed, and when a connection of the job ended before
     * its request. Of the first block each shard may have stored its part.
     */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
            32 | Code: 32. DB::Exception: Attempt to read after eof: while receiving packet from 127.0.0.1:23195, local address: 127.0.0.1:53244: Insertion status: Wrote 1 blocks and 100 rows on shard 0 replica 0, 127.0.0.1:23193 (average 43 ms per block). (ATTEMPT_TO_READ_AFTER_EOF)
            33 | Code: 33. DB::Exception: Unexpected EOF, got 29 of 40 bytes. (CANNOT_READ_ALL_DATA)
            """)
    void aBlockWhoseConnectionEndedWaits(int code, String response) {
        assertThat(InsertErrors.isInData(code, response)).isFalse();
    }
}
