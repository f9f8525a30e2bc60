package io.tailrace.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The same cases as for stored rows in sql/tests/test_security_queries.py. */
class ClientAddressTest {

    @ParameterizedTest
    @CsvSource(
            value = {
                "10.0.3.9, '', '', 10.0.3.9, 0",
                "web1, 10.0.3.9, web1, 10.0.3.9, 0",
                "'', 10.0.3.9, '', 10.0.3.9, 0",
                "10.0.3.9, 10.0.3.9, '', 10.0.3.9, 0",
                "::ffff:10.0.3.9, '', '', 10.0.3.9, 0",
                "'', ::FFFF:10.0.3.9, '', 10.0.3.9, 0",
                "2001:DB8:0:0::7, '', '', 2001:db8::7, 0",
                "web1, '', web1, '', 0",
                "localhost, '', localhost, '', 0",
                "localhost, 127.0.0.1, localhost, 127.0.0.1, 0",
                "'', '', '', '', 0",
                "10.0.3.9:51123, '', '', 10.0.3.9, 51123",
                "web1:51123, '', web1, '', 51123",
                "[::1]:51123, '', '', ::1, 51123",
                "[::1], '', '', ::1, 0",
                "::1, '', '', ::1, 0",
                "::, '', '', ::, 0",
                "1:0:0:2:0:0:0:3, '', '', 1:0:0:2::3, 0",
                "1:0:2:3:4:5:6:7, '', '', 1:0:2:3:4:5:6:7, 0",
                "fe80::, '', '', fe80::, 0",
                "::ffff:a00:309, '', '', 10.0.3.9, 0",
                "db1, '', db1, '', 0",
                "10.0.3.9.example, '', 10.0.3.9.example, '', 0",
                "web1:0, '', web1:0, '', 0",
                "web1:x, '', web1:x, '', 0",
                "web1:70000, '', web1:70000, '', 0",
                ":51123, '', :51123, '', 0",
            })
    void bringsHostAndAddressIntoOneForm(String host, String ip, String name, String address, int port) {
        assertThat(ClientAddress.of(host, ip)).isEqualTo(new ClientAddress(name, address, port));
    }
}
