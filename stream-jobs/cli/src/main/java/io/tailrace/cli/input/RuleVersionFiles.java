package io.tailrace.cli.input;

import io.tailrace.detection.sigma.reader.BundleFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Combines files of rules with a pack: a rule of a file replaces the rule of the pack with the same id or name. */
public final class RuleVersionFiles {

    /** A key of a document, not of a nested map. */
    private static final Pattern IDENTITY =
            Pattern.compile("^(?:id|name):[ \\t]*[\"']?([^\\s\"'#]+)", Pattern.MULTILINE);

    private RuleVersionFiles() {}

    /** Returns the files and directories to compile. */
    public static List<Path> of(List<Path> pack, List<Path> replacing) throws IOException {
        if (replacing.isEmpty()) {
            return pack;
        }
        Set<String> replaced = new HashSet<>();
        for (Path file : replacing) {
            replaced.addAll(identities(file));
        }
        List<Path> files = new ArrayList<>();
        for (Path path : pack) {
            for (Path file : Files.isDirectory(path) ? rules(path) : List.of(path)) {
                if (replacing.stream().noneMatch(other -> isSame(file, other))
                        && identities(file).stream().noneMatch(replaced::contains)) {
                    files.add(file);
                }
            }
        }
        files.addAll(replacing);
        return files;
    }

    private static boolean isSame(Path one, Path other) {
        return one.toAbsolutePath().normalize().equals(other.toAbsolutePath().normalize());
    }

    private static List<Path> rules(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile)
                    .filter(file ->
                            file.toString().endsWith(".yml") || file.toString().endsWith(".yaml"))
                    .filter(file ->
                            !BundleFiles.isOther(directory.relativize(file).toString()))
                    .sorted()
                    .toList();
        }
    }

    private static Set<String> identities(Path file) throws IOException {
        Set<String> found = new HashSet<>();
        Matcher identity = IDENTITY.matcher(Files.readString(file));
        while (identity.find()) {
            found.add(identity.group(1));
        }
        return found;
    }
}
