package io.tailrace.cli.help;

import io.tailrace.cli.help.CommandDescription.Value;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Renders the help of one command. The Python module tailrace.cli.help.text renders the same text, which docs/CLI.md
 * contains; HelpRendererTest compares both.
 */
public final class HelpRenderer {

    /** Characters per line; fewer on a narrower terminal. */
    public static final int WIDTH = 100;

    private static final int MAX_LABEL = 30;
    private static final int MARGIN = 2;

    private final int columns;
    private final StringBuilder out = new StringBuilder();

    private HelpRenderer(int columns) {
        this.columns = Math.min(WIDTH, columns);
    }

    /** Returns the help for a terminal with this number of columns. */
    public static String render(CommandDescription command, int columns) {
        return new HelpRenderer(columns).help(command);
    }

    private String help(CommandDescription command) {
        wrap(command.purpose(), columns).forEach(this::line);
        section("Usage", command.usage().stream().map(HelpRenderer::indented).toList());
        Map<String, String> subcommands = new LinkedHashMap<>();
        command.subcommands().forEach(each -> subcommands.put(lastWord(each.name()), each.purpose()));
        section("Subcommands", table(subcommands));
        section("Arguments", table(labels(command.arguments())));
        section("Options", table(labels(command.options())));
        section("Details", details(command.details()));
        section(
                "Examples",
                command.examples().stream()
                        .flatMap(String::lines)
                        .map(HelpRenderer::indented)
                        .toList());
        section("Exit codes", table(command.exitCodes()));
        section("See also", filled(String.join(", ", command.seeAlso())));
        return out.toString();
    }

    private static String lastWord(String name) {
        return name.substring(name.lastIndexOf(' ') + 1);
    }

    private static String indented(String line) {
        return " ".repeat(MARGIN) + line;
    }

    private static Map<String, String> labels(List<Value> values) {
        Map<String, String> labels = new LinkedHashMap<>();
        values.forEach(value -> labels.put(label(value), value.help()));
        return labels;
    }

    private static String label(Value value) {
        String names = String.join(", ", value.names());
        boolean longOnly = names.startsWith("--");
        return ((longOnly ? "    " : "") + names + " " + value.placeholder()).stripTrailing();
    }

    private void line(String text) {
        out.append(text).append('\n');
    }

    private void section(String title, List<String> lines) {
        if (!lines.isEmpty()) {
            line("");
            line(title + ":");
            lines.forEach(this::line);
        }
    }

    /** Lays out labels with their texts, which continue under their own beginning. */
    private List<String> table(Map<String, String> rows) {
        int widest = rows.keySet().stream()
                .mapToInt(String::length)
                .filter(length -> length <= MAX_LABEL)
                .max()
                .orElse(MAX_LABEL);
        int indent = widest + 2 * MARGIN;
        List<String> lines = new ArrayList<>();
        rows.forEach((label, text) -> addRow(label, wrap(text, columns - indent), indent, lines));
        return lines;
    }

    private static void addRow(String label, List<String> texts, int indent, List<String> lines) {
        String head = indented(label);
        boolean fits = head.length() + MARGIN <= indent;
        if (!fits) {
            lines.add(head);
        }
        for (int i = 0; i < texts.size(); i++) {
            String start = i == 0 && fits ? head : "";
            lines.add((start + " ".repeat(indent - start.length()) + texts.get(i)).stripTrailing());
        }
    }

    private List<String> details(List<String> paragraphs) {
        List<String> lines = new ArrayList<>();
        for (String paragraph : paragraphs) {
            if (!lines.isEmpty()) {
                lines.add("");
            }
            lines.addAll(filled(paragraph));
        }
        return lines;
    }

    private List<String> filled(String text) {
        return wrap(text, columns - MARGIN).stream().map(HelpRenderer::indented).toList();
    }

    private static List<String> wrap(String text, int width) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.isEmpty() ? new String[0] : text.split(" ")) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > width) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        if (!line.isEmpty()) {
            lines.add(line.toString());
        }
        return lines;
    }
}
