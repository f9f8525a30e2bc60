package io.tailrace.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** e2e/test_secure.py verifies connections with these authorities. */
class ClickHouseAuthoritiesTest {

    /** Two authorities, as while one replaces the other. Their keys do not exist. */
    private static final String AUTHORITIES =
            """
            -----BEGIN CERTIFICATE-----
            MIIBgzCCASmgAwIBAgIUQxYXIrSIqFm2ppnYePJnl0ZSl4YwCgYIKoZIzj0EAwIw
            FjEUMBIGA1UEAwwLYXV0aG9yaXR5IDEwIBcNMjYxMTI2MjMyNDM5WhgPMjEyNjEx
            MDIyMzI0MzlaMBYxFDASBgNVBAMMC2F1dGhvcml0eSAxMFkwEwYHKoZIzj0CAQYI
            KoZIzj0DAQcDQgAEeDTNCgt547ecbBtFteHzvCyeZBxsl706HsulmuBUKR/xint5
            tNPa6fsWwPfXcmrWPNNULXYV4IPzZzupzfJdIaNTMFEwHQYDVR0OBBYEFOetzUZj
            ZueWj/Rl5/lUsHdRYdJkMB8GA1UdIwQYMBaAFOetzUZjZueWj/Rl5/lUsHdRYdJk
            MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAJLTzYG6pgjy0xgz
            DnBNu9EP8NpVEGwZWqumhJjFbY6NAiBlbJr8ur3wREF38oAZ7lWi0ibSsyvE51BE
            a6FcoL/12Q==
            -----END CERTIFICATE-----
            -----BEGIN CERTIFICATE-----
            MIIBgzCCASmgAwIBAgIUeUUXJF4Ga4vjHh5LbMX/MQwzsD0wCgYIKoZIzj0EAwIw
            FjEUMBIGA1UEAwwLYXV0aG9yaXR5IDIwIBcNMjYxMTI2MjMyNDM5WhgPMjEyNjEx
            MDIyMzI0MzlaMBYxFDASBgNVBAMMC2F1dGhvcml0eSAyMFkwEwYHKoZIzj0CAQYI
            KoZIzj0DAQcDQgAEnhvl1RWuP0pS4AoYeM6mIxKzIxWhyLFVZA3sHD+bnIltW7VO
            0MvhSEFm8GGbwfdjsDENTZyNej7ysm5YDqV5+6NTMFEwHQYDVR0OBBYEFBYBrI3W
            zHoEN0EpNXy1aRB5t1BoMB8GA1UdIwQYMBaAFBYBrI3WzHoEN0EpNXy1aRB5t1Bo
            MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhALL9rte0KjGA8mnz
            0mMsERS+pjaEkHLgrLljYJ8Hzj3jAiBEaDVmPEoDbYYLQmDP7sXoN0PSJLFKoT6Y
            J3WTB9kFkg==
            -----END CERTIFICATE-----
            """;

    @TempDir
    private Path directory;

    @Test
    void withoutVariableTheAuthoritiesOfTheMachineAreTrusted() throws IOException {
        assertThat(ClickHouseAuthorities.context(Map.of())).isEmpty();
        assertThat(ClickHouseAuthorities.context(Map.of(ClickHouseAuthorities.VARIABLE, "")))
                .isEmpty();
    }

    @Test
    void severalAuthoritiesAreRead() throws IOException {
        Path file = Files.writeString(directory.resolve("trust.pem"), AUTHORITIES);
        assertThat(ClickHouseAuthorities.context(named(file))).isPresent();
    }

    @Test
    void fileThatNamesNoAuthorityIsRefused() throws IOException {
        Path missing = directory.resolve("missing.pem");
        assertThatIOException()
                .isThrownBy(() -> ClickHouseAuthorities.context(named(missing)))
                .withMessageContaining("missing.pem");
        Path empty = Files.writeString(directory.resolve("empty.pem"), "");
        assertThatIOException()
                .isThrownBy(() -> ClickHouseAuthorities.context(named(empty)))
                .withMessageContaining("no certificate in");
        String damaged = AUTHORITIES.replaceFirst("MII", "AII");
        Path text = Files.writeString(directory.resolve("text.pem"), damaged);
        assertThatIOException()
                .isThrownBy(() -> ClickHouseAuthorities.context(named(text)))
                .withMessageContaining("text.pem");
    }

    private static Map<String, String> named(Path file) {
        return Map.of(ClickHouseAuthorities.VARIABLE, file.toString());
    }
}
