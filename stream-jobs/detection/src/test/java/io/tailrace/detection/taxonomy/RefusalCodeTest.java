package io.tailrace.detection.taxonomy;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.testing.Contract;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RefusalCodeTest {

    @ParameterizedTest
    @MethodSource("codes")
    void aCodeHasTheKindOfTheContract(Map<String, Object> contractCase) {
        String code = contractCase.get("code").toString();
        Object kind = contractCase.get("kind");

        assertThat(RefusalCode.isOfLogin(code)).isEqualTo(kind.equals("login"));
        assertThat(RefusalCode.isOfPrivilege(code)).isEqualTo(kind.equals("privilege"));
        assertThat(RefusalCode.isRefusal(code)).isEqualTo(!kind.equals(""));
    }

    static List<Map<String, Object>> codes() throws IOException {
        return Contract.cases("refusal_code");
    }
}
