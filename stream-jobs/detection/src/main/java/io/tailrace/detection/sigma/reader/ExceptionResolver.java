package io.tailrace.detection.sigma.reader;

import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.RuleException;
import io.tailrace.detection.sigma.rule.RuleExceptions;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.SigmaRule;
import io.tailrace.detection.sigma.yaml.RuleCompilationException;
import io.tailrace.detection.sigma.yaml.RuleError;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Finds the rules that exceptions name. A rejected exception has no effect, so its rule alerts more often. */
final class ExceptionResolver {

    private final Map<String, SigmaRule> rules;
    private final Map<String, CorrelationRule> correlations;
    private final Consumer<RuleError> errors;

    /**
     * @param rules by their keys
     * @param correlations by their keys
     */
    ExceptionResolver(
            Map<String, SigmaRule> rules, Map<String, CorrelationRule> correlations, Consumer<RuleError> errors) {
        this.rules = rules;
        this.correlations = correlations;
        this.errors = errors;
    }

    RuleExceptions all(Collection<ExceptionCompiler.Draft> drafts) {
        List<RuleException> resolved = new ArrayList<>();
        for (ExceptionCompiler.Draft draft : drafts) {
            resolve(draft).ifPresent(resolved::add);
        }
        return new RuleExceptions(resolved);
    }

    private Optional<RuleException> resolve(ExceptionCompiler.Draft draft) {
        RuleError place = draft.place();
        Optional<String> key = key(draft.rule());
        if (key.isEmpty()) {
            errors.accept(new RuleError(
                    place.file(),
                    place.line(),
                    place.column(),
                    "there is no rule " + draft.rule() + ", or it was rejected"));
            return Optional.empty();
        }
        try {
            return Optional.of(draft.of(key.get(), source(key.get())));
        } catch (RuleCompilationException e) {
            errors.accept(e.error());
            return Optional.empty();
        }
    }

    private Optional<String> key(String reference) {
        return Stream.concat(
                        rules.values().stream().map(SigmaRule::header),
                        correlations.values().stream().map(CorrelationRule::header))
                .filter(header -> header.isNamed(reference) || header.key().equals(reference))
                .map(RuleHeader::key)
                .findFirst();
    }

    /** Returns the logs of a rule; of a correlation those of the first rule over single events that it counts. */
    private LogSource source(String key) {
        SigmaRule rule = rules.get(key);
        return rule != null
                ? rule.source()
                : source(correlations.get(key).rules().get(0));
    }
}
