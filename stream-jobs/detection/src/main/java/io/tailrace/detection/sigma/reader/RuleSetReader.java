package io.tailrace.detection.sigma.reader;

import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.yaml.RuleError;
import io.tailrace.detection.sigma.yaml.YamlDocuments;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Compiles files of Sigma rules. A document that cannot be compiled is rejected with its position and a reason, and the
 * others are still read. A syntax error also rejects the rest of its file.
 */
public final class RuleSetReader {

    private final RuleContext context;
    private final RuleSetBuilder drafts;

    public RuleSetReader(RuleContext context) {
        this.context = context;
        this.drafts = new RuleSetBuilder(context.fields());
    }

    public RuleSetReader() {
        this(RuleContext.NONE);
    }

    /**
     * Reads a file, or all files below a directory whose names end with .yml or .yaml, in alphabetical order. Files at
     * its top that contain no rules ({@link BundleFiles}) are skipped. Deprecated rules are evaluated only if their file is
     * named, or if a correlation uses them.
     */
    public RuleSetReader path(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            try (Stream<Path> files = Files.walk(path)) {
                for (Path file :
                        files.filter(file -> isRules(path, file)).sorted().toList()) {
                    file(file);
                }
            }
        } else {
            drafts.withWithdrawn(path.toString());
            file(path);
        }
        return this;
    }

    private static boolean isRules(Path directory, Path file) {
        String name = file.getFileName().toString();
        if (BundleFiles.isOther(directory.relativize(file).toString())) {
            return false;
        }
        return Files.isRegularFile(file) && (name.endsWith(".yml") || name.endsWith(".yaml"));
    }

    private void file(Path file) throws IOException {
        if (Files.size(file) > YamlDocuments.MAX_LENGTH) {
            drafts.add(new RuleError(
                    file.toString(), 1, 1, "expected a file of at most " + YamlDocuments.MAX_LENGTH + " bytes"));
            return;
        }
        byte[] bytes = Files.readAllBytes(file);
        try {
            text(
                    file.toString(),
                    StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(bytes))
                            .toString());
        } catch (CharacterCodingException e) {
            drafts.add(new RuleError(file.toString(), 1, 1, "expected UTF-8"));
        }
    }

    /** Reads the documents of a text. */
    public RuleSetReader text(String file, String yaml) {
        YamlDocuments.read(file, yaml, document -> new RuleDocument(document, context).read(drafts), drafts::add);
        return this;
    }

    /** Returns all rules that were read, with correlations and filters applied. */
    public RuleSet ruleSet() {
        return drafts.ruleSet();
    }
}
