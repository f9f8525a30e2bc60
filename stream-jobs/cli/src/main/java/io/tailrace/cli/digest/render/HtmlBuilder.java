package io.tailrace.cli.digest.render;

/** Builds HTML. Contents of logs are written as text, never as markup. */
public final class HtmlBuilder {

    private final StringBuilder out = new StringBuilder(1 << 16);

    /** Appends trusted markup without escaping. */
    public HtmlBuilder raw(String markup) {
        out.append(markup);
        return this;
    }

    /** Appends escaped text, which is also safe within an attribute's quotes. */
    public HtmlBuilder text(String text) {
        for (int i = 0; i < text.length(); i++) {
            character(text.charAt(i));
        }
        return this;
    }

    private void character(char c) {
        switch (c) {
            case '&' -> out.append("&amp;");
            case '<' -> out.append("&lt;");
            case '>' -> out.append("&gt;");
            case '"' -> out.append("&quot;");
            case '\'' -> out.append("&#39;");
            default -> out.append(isForbidden(c) ? '\ufffd' : c);
        }
    }

    /** Characters that HTML does not allow, or that change the direction of the surrounding text. */
    private static boolean isForbidden(char c) {
        return Character.isISOControl(c) && c != '\n' && c != '\t'
                || c >= '\u202a' && c <= '\u202e'
                || c >= '\u2066' && c <= '\u2069';
    }

    /** Appends an element that contains only text. */
    public HtmlBuilder element(String tag, String text) {
        return raw("<" + tag + ">").text(text).raw("</" + tag.split(" ", 2)[0] + ">");
    }

    @Override
    public String toString() {
        return out.toString();
    }
}
