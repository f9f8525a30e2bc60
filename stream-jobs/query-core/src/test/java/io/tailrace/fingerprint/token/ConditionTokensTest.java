package io.tailrace.fingerprint.token;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.lexer.SqlMode;
import io.tailrace.testing.Contract;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ConditionTokensTest {

    @ParameterizedTest
    @MethodSource("openLiterals")
    void agreesWithTheOtherReadersOfStatements(Map<String, Object> text) {
        byte[] bytes = ((String) text.get("text")).getBytes(StandardCharsets.UTF_8);
        ConditionTokens tokens = new ConditionTokens(SqlMode.DEFAULT);
        boolean closed = true;
        for (tokens.start(bytes, 0, bytes.length); tokens.kind() != ConditionTokens.Kind.END; tokens.next()) {
            closed = tokens.isClosed();
        }
        assertThat(!closed).isEqualTo(text.get("is_open"));
    }

    static List<Map<String, Object>> openLiterals() throws IOException {
        return Contract.cases("open_literal");
    }
}
