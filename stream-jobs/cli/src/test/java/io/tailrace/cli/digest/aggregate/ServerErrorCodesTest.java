package io.tailrace.cli.digest.aggregate;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.testing.Contract;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ServerErrorCodesTest {

    @Test
    void everyRefusalIsDescribedAsOne() throws IOException {
        for (Map<String, Object> each : Contract.cases("refusal_code")) {
            String code = each.get("code").toString();
            boolean isRefusal = !each.get("kind").equals("");
            assertThat(ServerErrorCodes.describe(code).equals(code + " access denied"))
                    .as(code)
                    .isEqualTo(isRefusal);
        }
    }
}
