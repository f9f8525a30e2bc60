package io.tailrace.detection.sigma.yaml;

/**
 * The reason why a rule is rejected.
 *
 * @param file name of its file
 * @param line line of the cause, from 1
 * @param column column of the cause, from 1
 * @param reason what was expected and what was found
 */
public record RuleError(String file, int line, int column, String reason) {

    @Override
    public String toString() {
        return file + ":" + line + ":" + column + ": " + reason;
    }
}
