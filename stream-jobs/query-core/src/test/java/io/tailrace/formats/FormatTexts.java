package io.tailrace.formats;

import io.tailrace.framing.FramedLog;
import io.tailrace.framing.LogFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds the texts that recur in the entries of a format, such as {@code  Query_time: } or {@code ","sqltext":"}: what
 * its framer and parser search for. The golden inputs contain them, so a new format needs no list of its own.
 */
final class FormatTexts {

    /** A word with the delimiters on both sides. Those behind it also precede the next word. */
    private static final Pattern WORD =
            Pattern.compile("[^\\w\\r\\n]{0,3}(?<!\\w)[A-Za-z_]\\w*(?=([^\\w\\r\\n]{0,3}))");

    private static final Pattern DELIMITERS = Pattern.compile("(?<!\\W)[^\\w\\r\\n]{2,3}");
    private static final Pattern LINE = Pattern.compile("[^\\n]+\\n");

    /** Above this length a word with its delimiters is a value, such as a statement's comment. */
    private static final int MAX_WORD_LENGTH = 24;

    private FormatTexts() {}

    /**
     * Returns the words and delimiters that most entries contain, and whole lines; each byte as one character.
     *
     * @param words maximum number of words with their delimiters
     * @param others maximum number of delimiters alone, and of the first lines of an entry
     */
    static List<String> of(LogFormat format, int words, int others) throws IOException {
        List<String> entries = new ArrayList<>();
        for (Path path : GoldenInputs.cases(format)) {
            byte[] file = Files.readAllBytes(path.resolve("input.log"));
            for (FramedLog.Frame entry : FramedLog.of(format, file).entries()) {
                int from = (int) entry.from();
                entries.add(new String(file, from, (int) entry.to() - from, StandardCharsets.ISO_8859_1));
            }
        }
        Stream<String> lines = LINE.matcher(entries.get(0)).results().map(line -> line.group());
        return Stream.of(
                        mostFrequent(WORD, entries, words),
                        mostFrequent(DELIMITERS, entries, others),
                        lines.limit(others))
                .flatMap(texts -> texts)
                .distinct()
                .toList();
    }

    private static Stream<String> mostFrequent(Pattern pattern, List<String> entries, int limit) {
        Map<String, Integer> numbers = new LinkedHashMap<>();
        for (String entry : entries) {
            texts(pattern, entry).forEach(text -> numbers.merge(text, 1, Integer::sum));
        }
        return numbers.entrySet().stream()
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .limit(limit)
                .map(Map.Entry::getKey);
    }

    private static Set<String> texts(Pattern pattern, String entry) {
        Set<String> texts = new LinkedHashSet<>();
        Matcher matcher = pattern.matcher(entry);
        while (matcher.find()) {
            String text = matcher.groupCount() == 0 ? matcher.group() : matcher.group() + matcher.group(1);
            if (text.length() <= MAX_WORD_LENGTH) {
                texts.add(text);
            }
        }
        return texts;
    }
}
