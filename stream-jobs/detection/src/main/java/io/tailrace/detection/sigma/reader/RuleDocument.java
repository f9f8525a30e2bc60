package io.tailrace.detection.sigma.reader;

import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.match.Expression;
import io.tailrace.detection.sigma.rule.Level;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.SigmaRule;
import io.tailrace.detection.sigma.search.DetectionCompiler;
import io.tailrace.detection.sigma.yaml.YamlMap;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.nodes.Node;

/** Parses one YAML document: a rule, a correlation, a filter or an exception. */
final class RuleDocument {

    private static final Pattern UUID =
            Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}");
    private static final Set<String> STATUSES = Set.of("stable", "test", "experimental", "deprecated", "unsupported");
    private static final String ANY = "any";

    private final YamlMap map;
    private final RuleContext context;

    RuleDocument(YamlMap map, RuleContext context) {
        this.map = map;
        this.context = context;
    }

    /** Parses the document into a draft, in which references to other rules are not resolved yet. */
    void read(RuleSetBuilder drafts) {
        if (map.has("action")) {
            throw map.refusal(map.keyNode("action"), "collections with action are not supported; write each rule out");
        }
        boolean isRule = !map.has("correlation") && !map.has("exception") && !map.has("filter");
        if (map.has(YieldingRules.KEY) && !isRule) {
            throw map.refusal(map.keyNode(YieldingRules.KEY), "only a rule over single events yields to others");
        }
        if (map.has("correlation")) {
            drafts.add(new CorrelationCompiler(map, header()).read());
        } else if (map.has("exception")) {
            drafts.add(new ExceptionCompiler(map, context).read(header().title()));
        } else if (map.has("filter")) {
            drafts.add(filter(drafts));
        } else {
            addRule(drafts);
        }
    }

    private void addRule(RuleSetBuilder drafts) {
        RuleHeader header = header();
        LogSource source = source();
        Expression condition = new DetectionCompiler(map.file(), source, context, drafts::warn)
                .read(map.map("detection", "a rule"), Set.of());
        RuleHeader added = drafts.add(new SigmaRule(header, source, condition, true));
        map.get(YieldingRules.KEY)
                .ifPresent(node -> drafts.addYielding(
                        added,
                        map.texts(YieldingRules.KEY),
                        map.refusal(node, "").error()));
    }

    private RuleFilter filter(RuleSetBuilder drafts) {
        RuleHeader header = header();
        LogSource source = source();
        YamlMap filter = map.map("filter", "a filter");
        Expression condition =
                new DetectionCompiler(map.file(), source, context, drafts::warn).read(filter, Set.of("rules"));
        Node rules = filter.require("rules", "a filter");
        List<String> references = filter.texts("rules");
        boolean any = references.isEmpty() || references.size() == 1 && ANY.equalsIgnoreCase(references.get(0));
        return new RuleFilter(
                header,
                source,
                any ? List.of() : references,
                condition,
                map.refusal(rules, "").error());
    }

    private RuleHeader header() {
        String title = map.text("title");
        if (title.isEmpty()) {
            throw map.refusal(map.node(), "a rule has no title");
        }
        return new RuleHeader(
                id(),
                map.text("name"),
                title,
                map.text("description"),
                level(),
                status(),
                map.texts("tags"),
                map.texts("falsepositives"),
                map.texts("next_steps"),
                map.file(),
                line());
    }

    private int line() {
        return map.refusal(map.node(), "").error().line();
    }

    private String id() {
        String id = map.text("id");
        if (!id.isEmpty() && !UUID.matcher(id).matches()) {
            throw map.refusal(map.get("id").orElseThrow(), "an id is expected to be a UUID, found " + id);
        }
        return id.toLowerCase(Locale.ROOT);
    }

    private Level level() {
        return Level.of(map, "level").orElse(Level.MEDIUM);
    }

    private String status() {
        String status = map.text("status");
        if (!status.isEmpty() && !STATUSES.contains(status.toLowerCase(Locale.ROOT))) {
            throw map.refusal(
                    map.get("status").orElseThrow(),
                    "a status is expected to be one of stable, test, experimental, deprecated, unsupported, found "
                            + status);
        }
        return status;
    }

    private LogSource source() {
        YamlMap source = map.map("logsource", "a rule");
        LogSource read = new LogSource(source.text("category"), source.text("product"), source.text("service"));
        if (read.equals(LogSource.ANY)) {
            throw source.refusal(source.node(), "a logsource names a category, product or service");
        }
        return read;
    }
}
