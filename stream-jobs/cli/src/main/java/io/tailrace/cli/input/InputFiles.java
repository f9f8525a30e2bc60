package io.tailrace.cli.input;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Resolves file arguments. A quoted pattern, which the shell does not expand, is matched here. */
public final class InputFiles {

    /** Maximum depth of directories that {@code **} searches. */
    private static final int MAX_DEPTH = 16;

    private InputFiles() {}

    /**
     * Returns the files in the order of the arguments, those of one pattern by name, each once.
     *
     * @param unmatched receives the patterns that match no file
     */
    public static List<LogFile> of(List<String> arguments, Collection<String> unmatched) {
        Map<Object, LogFile> files = new LinkedHashMap<>();
        for (String argument : arguments) {
            List<String> names = names(argument);
            if (names.isEmpty()) {
                unmatched.add(argument);
            }
            names.forEach(name -> files.putIfAbsent(identity(name), new LogFile(name)));
        }
        return List.copyOf(files.values());
    }

    private static List<String> names(String argument) {
        boolean pattern = argument.chars().anyMatch(c -> "*?[{".indexOf(c) >= 0);
        return !pattern || exists(argument) ? List.of(argument) : matches(argument);
    }

    private static boolean exists(String name) {
        try {
            return Files.exists(Path.of(name));
        } catch (InvalidPathException e) {
            return false;
        }
    }

    private static Object identity(String name) {
        try {
            return LogFile.STANDARD_INPUT.equals(name) ? name : Path.of(name).toRealPath();
        } catch (IOException | InvalidPathException e) {
            return name;
        }
    }

    private static List<String> matches(String pattern) {
        int wildcard = 0;
        while ("*?[{".indexOf(pattern.charAt(wildcard)) < 0) {
            wildcard++;
        }
        int slash = pattern.lastIndexOf('/', wildcard);
        Path start = Path.of(slash < 0 ? "." : pattern.substring(0, slash + 1));
        String rest = pattern.substring(slash + 1);
        int depth = rest.contains("**")
                ? MAX_DEPTH
                : (int) rest.chars().filter(c -> c == '/').count() + 1;
        if (!Files.isDirectory(start)) {
            return List.of();
        }
        PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + rest);
        Map<Path, String> found = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(start, depth)) {
            paths.filter(path -> matcher.matches(start.relativize(path)) && Files.isRegularFile(path))
                    .forEach(path ->
                            found.put(path, slash < 0 ? start.relativize(path).toString() : path.toString()));
        } catch (IOException | UncheckedIOException e) {
            return List.of();
        }
        return new ArrayList<>(found.values());
    }
}
