package io.tailrace.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Attacks of one statement each, from a file of {@code src/test/resources/attacks}. */
final class AttackList {

    /**
     * An attack.
     *
     * @param kind heading of its section
     * @param rules names of the rules that state what happens; any of them suffices
     */
    record Attack(String kind, Set<String> rules, String sql) {}

    private static final Path DIRECTORY = Path.of("src/test/resources/attacks");

    private AttackList() {}

    static List<Attack> of(String file) {
        List<Attack> attacks = new ArrayList<>();
        String kind = "";
        for (String line : lines(file)) {
            if (line.startsWith("[")) {
                kind = line.substring(1, line.length() - 1);
            } else if (!line.isBlank() && !line.startsWith("#")) {
                int colon = line.indexOf(": ");
                attacks.add(new Attack(kind, Set.of(line.substring(0, colon).split(", ")), line.substring(colon + 2)));
            }
        }
        return attacks;
    }

    private static List<String> lines(String file) {
        try {
            return Files.readAllLines(DIRECTORY.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
