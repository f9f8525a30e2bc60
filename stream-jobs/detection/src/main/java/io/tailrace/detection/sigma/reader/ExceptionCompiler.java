package io.tailrace.detection.sigma.reader;

import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.match.Expression;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleException;
import io.tailrace.detection.sigma.search.DetectionCompiler;
import io.tailrace.detection.sigma.yaml.RuleCompilationException;
import io.tailrace.detection.sigma.yaml.RuleError;
import io.tailrace.detection.sigma.yaml.YamlMap;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.snakeyaml.engine.v2.nodes.Node;

/** Compiles an exception: an extension of Sigma, a document with the key {@code exception}. */
final class ExceptionCompiler {

    private static final String WHAT = "an exception";
    private static final Set<String> KEYS = Set.of("rule", "selection", "reason", "owner", "expires");
    private static final long MICROS = 1_000_000;

    private final YamlMap document;
    private final YamlMap map;
    private final RuleContext context;

    ExceptionCompiler(YamlMap document, RuleContext context) {
        this.document = document;
        this.map = document.map("exception", WHAT);
        this.context = context;
    }

    /**
     * An exception whose rule is not resolved yet.
     *
     * @param rule id, name or title of a rule, as written
     * @param selection compiles the selection for the logs of the rule; throws {@link RuleCompilationException}
     * @param place position at which it names its rule
     */
    record Draft(RuleException exception, String rule, Function<LogSource, Expression> selection, RuleError place) {

        RuleException of(String key, LogSource source) {
            return new RuleException(
                    exception.title(),
                    key,
                    selection.apply(source),
                    exception.expiresMicros(),
                    exception.expires(),
                    exception.reason(),
                    exception.owner(),
                    exception.place());
        }
    }

    Draft read(String title) {
        for (String key : map.keys()) {
            if (!KEYS.contains(key)) {
                throw map.refusal(
                        map.keyNode(key),
                        "an exception has no " + key + "; it has expires, owner, reason, rule, selection");
            }
        }
        RuleException exception = new RuleException(
                title,
                "",
                new Expression.AtLeast(1, List.of()),
                expires(),
                map.text("expires"),
                required("reason"),
                required("owner"),
                map.refusal(document.node(), "").error());
        String rule = required("rule");
        map.require("selection", WHAT);
        return new Draft(
                exception,
                rule,
                this::selection,
                map.refusal(map.get("rule").orElseThrow(), "").error());
    }

    private String required(String key) {
        Node node = map.require(key, WHAT);
        String text = map.text(key).strip();
        if (text.isEmpty()) {
            throw map.refusal(node, "an exception has no " + key);
        }
        return text;
    }

    private long expires() {
        String written = required("expires");
        try {
            return LocalDate.parse(written).atStartOfDay(ZoneOffset.UTC).toEpochSecond() * MICROS;
        } catch (DateTimeException e) {
            throw map.refusal(
                    map.get("expires").orElseThrow(),
                    "expires is expected to be a date such as 2027-03-31, found " + written);
        }
    }

    private Expression selection(LogSource source) {
        Node node = map.require("selection", WHAT);
        Expression selection = new DetectionCompiler(map.file(), source, context, warning -> {}).search(node);
        if (SelectionBreadth.isUnlimited(selection)) {
            throw map.refusal(
                    node,
                    "the selection matches events with any values, so the rule would never match; require a value of"
                            + " a field, or set the rule's status to deprecated");
        }
        return selection;
    }
}
