package io.tailrace.cli.digest.render;

/** HTML under construction. Whatever a log holds is written as text, never as markup. */
public final class HtmlBuilder {

    private final StringBuilder out = new StringBuilder(1 << 16);

    /** Markup of our own, as it is. */
    public HtmlBuilder raw(String markup) {
        out.append(markup);
        return this;
    }

    /** Text, also within an attribute's quotes. */
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

    /** Characters that HTML does not allow, or that would turn round the text beside them. */
    private static boolean isForbidden(char c) {
        return Character.isISOControl(c) && c != '\n' && c != '\t'
                || c >= '\u202a' && c <= '\u202e'
                || c >= '\u2066' && c <= '\u2069';
    }

    /** An element that holds nothing but text. */
    public HtmlBuilder element(String tag, String text) {
        return raw("<" + tag + ">").text(text).raw("</" + tag.split(" ", 2)[0] + ">");
    }

    @Override
    public String toString() {
        return out.toString();
    }
}
