package io.tailrace.cli.digest.render;

/** Colours of a terminal, or none. */
public enum AnsiStyle {
    PLAIN(false),
    COLOURED(true);

    private static final String END = "\u001b[0m";

    private final boolean coloured;

    AnsiStyle(boolean coloured) {
        this.coloured = coloured;
    }

    public String strong(String text) {
        return with("1", text);
    }

    public String faint(String text) {
        return with("2", text);
    }

    public String heading(String text) {
        return with("1;36", text);
    }

    public String bar(String text) {
        return with("36", text);
    }

    public String alarm(String text) {
        return with("33", text);
    }

    public String danger(String text) {
        return with("31", text);
    }

    public String good(String text) {
        return with("32", text);
    }

    private String with(String code, String text) {
        return coloured && !text.isEmpty() ? "\u001b[" + code + "m" + text + END : text;
    }
}
