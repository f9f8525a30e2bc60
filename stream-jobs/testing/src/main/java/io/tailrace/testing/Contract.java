package io.tailrace.testing;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The cases of a rule that several languages implement: the files of {@code schemas/contracts}. */
public final class Contract {

    /** Maven runs the tests of a module in its directory. */
    private static final Path DIRECTORY = Path.of("../../schemas/contracts");

    private Contract() {}

    /**
     * The cases, in the order of the file.
     *
     * @param rule name of the file without {@code .json}
     */
    public static List<Map<String, Object>> cases(String rule) throws IOException {
        return new ObjectMapper().readValue(DIRECTORY.resolve(rule + ".json").toFile(), new TypeReference<>() {});
    }

    /**
     * Returns a rule whose file has several lists of cases.
     *
     * @param rule name of the file without {@code .json}
     */
    public static Map<String, Object> of(String rule) throws IOException {
        return new ObjectMapper().readValue(DIRECTORY.resolve(rule + ".json").toFile(), new TypeReference<>() {});
    }

    /** Returns one of the lists of cases of a rule, or of a case. */
    @SuppressWarnings("unchecked")
    public static List<Map<String, Object>> cases(Map<String, Object> rule, String list) {
        return (List<Map<String, Object>>) rule.get(list);
    }

    /** Returns the text of a case: a list of texts with the number of their repetitions. */
    public static String content(Map<String, Object> contractCase) {
        StringBuilder text = new StringBuilder();
        for (Object part : (List<?>) contractCase.get("content")) {
            List<?> pair = (List<?>) part;
            text.append(((String) pair.get(0)).repeat((Integer) pair.get(1)));
        }
        return text.toString();
    }
}
