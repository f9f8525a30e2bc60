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
}
