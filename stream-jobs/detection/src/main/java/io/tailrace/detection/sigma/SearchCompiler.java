package io.tailrace.detection.sigma;

import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.match.Expression;
import java.util.List;

/** Sigma's searches outside of rules: which events something else is for. */
public final class SearchCompiler {

    private static final LogSource DATABASE = new LogSource("database", "", "");

    private SearchCompiler() {}

    /**
     * The searches of a key over database events: a map means all of it, a list of maps any of them.
     *
     * @return what matches nothing where the key is absent
     */
    public static Expression of(YamlMap map, String key, RuleContext context) {
        DetectionCompiler reader = new DetectionCompiler(map.file(), DATABASE, context, warning -> {});
        return map.get(key).map(reader::search).orElse(new Expression.AtLeast(1, List.of()));
    }
}
