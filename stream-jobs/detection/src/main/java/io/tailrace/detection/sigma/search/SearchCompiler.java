package io.tailrace.detection.sigma.search;

import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.match.Expression;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.yaml.YamlMap;
import java.util.List;

/** Compiles Sigma searches outside of rules, which select events. */
public final class SearchCompiler {

    private static final LogSource DATABASE = new LogSource("database", "", "");

    private SearchCompiler() {}

    /**
     * Compiles the searches of a key over database events. In a map all entries must match, in a list of maps any.
     *
     * @return an expression that matches nothing if the key is absent
     */
    public static Expression of(YamlMap map, String key, RuleContext context) {
        DetectionCompiler reader = new DetectionCompiler(map.file(), DATABASE, context, warning -> {});
        return map.get(key).map(reader::search).orElse(new Expression.AtLeast(1, List.of()));
    }
}
