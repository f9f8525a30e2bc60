package io.tailrace.detection.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.reader.RuleText;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.rule.SigmaRule;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RulePrefilterTest {

    /** The prefilter must not change which rules match. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void findsWhatEvaluatingAllWouldFind(long seed) {
        RandomRules random = new RandomRules(seed);
        RuleSetReader reader = new RuleSetReader();
        for (int i = 0; i < 300; i++) {
            reader.text("r" + i, random.rule(i));
        }
        RuleSet rules = reader.ruleSet();
        assertThat(rules.errors()).isEmpty();
        RulePrefilter index = new RulePrefilter(rules.rules());
        int found = 0;
        List<DetectionEvent> events = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            events.add(random.event(i));
        }
        // Texts that were searched before have the same candidates again.
        events.addAll(events.subList(0, 100));
        for (DetectionEvent event : List.copyOf(events)) {
            List<String> expected = rules.rules().stream()
                    .filter(rule -> rule.condition().matches(event))
                    .map(rule -> rule.header().name())
                    .toList();
            assertThat(names(index, event)).isEqualTo(expected);
            found += expected.size();
        }
        assertThat(found).isGreaterThan(1000);
    }

    @Test
    void rulesOfOtherLogsDoNotMatch() {
        String rule = "title: t\nname: t\nlogsource: {product: windows}\ndetection: {s: {a: 1}, condition: s}";
        RulePrefilter index = new RulePrefilter(rules(rule));
        DetectionEvent here = DetectionEvent.builder("1", 0, new LogSource("database", "mysql", "audit"))
                .number("a", 1)
                .build();
        DetectionEvent there = DetectionEvent.builder("1", 0, new LogSource("", "windows", ""))
                .number("a", 1)
                .build();

        assertThat(names(index, here)).isEmpty();
        assertThat(names(index, there)).containsExactly("t");
    }

    @Test
    void rulesWithoutAnchorAreEvaluated() {
        RulePrefilter index = new RulePrefilter(rules(RuleText.named("absent", "a: null")));
        DetectionEvent event = DetectionEvent.builder("1", 0, new LogSource("database", "", ""))
                .text("b", "x")
                .build();

        assertThat(names(index, event)).containsExactly("absent");
    }

    private static List<SigmaRule> rules(String yaml) {
        return new RuleSetReader().text("x.yml", yaml).ruleSet().rules();
    }

    private static List<String> names(RulePrefilter index, DetectionEvent event) {
        List<String> names = new ArrayList<>();
        index.match(event, rule -> names.add(rule.header().name()));
        return names;
    }
}
