package io.tailrace.detection.sigma.reader;

import io.tailrace.detection.event.CaseFolding;
import io.tailrace.detection.sigma.rule.CorrelationRule.Learning;
import io.tailrace.detection.sigma.rule.Timespan;
import io.tailrace.detection.sigma.yaml.YamlMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Reads {@code learning} and {@code learning_only} of a correlation, which are extensions that Sigma does not define. */
final class LearningReader {

    static final String LEARNING = "learning";
    static final String ONLY = "learning_only";

    private LearningReader() {}

    static Learning read(YamlMap correlation) {
        if (!correlation.has(LEARNING)) {
            if (correlation.has(ONLY)) {
                throw correlation.refusal(
                        correlation.keyNode(ONLY), "only a correlation with " + LEARNING + " has " + ONLY);
            }
            return Learning.NONE;
        }
        String written = correlation.text(LEARNING);
        long days = TimeUnit.MICROSECONDS.toDays(Timespan.micros(written).orElse(0));
        if (days == 0) {
            throw correlation.refusal(
                    correlation.get(LEARNING).orElseThrow(),
                    LEARNING + " is expected to be a timespan of a day or longer, found " + written);
        }
        return new Learning((int) days, correlation.has(ONLY) ? only(correlation) : Map.of());
    }

    private static Map<String, Pattern> only(YamlMap correlation) {
        YamlMap fields = correlation.map(ONLY, "a correlation");
        Map<String, Pattern> only = new LinkedHashMap<>();
        for (String field : fields.keys()) {
            if (!correlation.texts("group-by").contains(field)) {
                throw fields.refusal(
                        fields.keyNode(field), ONLY + " is expected to name fields of group-by, found " + field);
            }
            only.put(field, anyOf(fields.texts(field)));
        }
        return only;
    }

    /** A star in a text stands for any characters. */
    private static Pattern anyOf(List<String> texts) {
        return Pattern.compile(
                texts.stream()
                        .map(text -> Pattern.quote(CaseFolding.fold(text)).replace("*", "\\E.*\\Q"))
                        .collect(Collectors.joining("|")),
                Pattern.DOTALL);
    }
}
