package io.tailrace.detection.stored;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.event.DetectionEvent;
import io.tailrace.detection.event.LogSource;
import io.tailrace.detection.match.Expression;
import io.tailrace.detection.match.WildcardMatcher;
import io.tailrace.testing.PropertyTestBudget;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PartialMatchTest {

    private static final int CASES = PropertyTestBudget.of(20_000, 1_000_000);
    private static final List<String> FIELDS = List.of("a", "b", "c");
    private static final List<String> VALUES = List.of("x", "y");

    /** An event that is not read is one that no rule matches. */
    @Test
    void whatCannotMatchDoesNotMatch() {
        Random random = new Random(21);
        int impossible = 0;
        for (int i = 0; i < CASES; i++) {
            Expression condition = expression(random, 3);
            Set<String> known = new HashSet<>(FIELDS.subList(0, random.nextInt(FIELDS.size() + 1)));
            DetectionEvent.Builder whole = event();
            DetectionEvent.Builder part = event();
            for (String field : FIELDS) {
                List<String> values = VALUES.subList(0, random.nextInt(VALUES.size() + 1));
                whole.texts(field, values);
                part.texts(field, known.contains(field) ? values : List.of());
            }
            if (!new PartialMatch(known).mayMatch(condition, part.build())) {
                impossible++;
                assertThat(condition.matches(whole.build()))
                        .as("%s, %s known", condition, known)
                        .isFalse();
            }
        }
        assertThat(impossible).isGreaterThan(CASES / 20);
    }

    @Test
    void aKnownFieldDecides() {
        PartialMatch match = new PartialMatch(Set.of("a"));
        Expression both = Expression.all(List.of(field("a", "x"), field("b", "x")));
        assertThat(match.mayMatch(both, event().text("a", "x").build())).isTrue();
        assertThat(match.mayMatch(both, event().text("a", "y").build())).isFalse();
        assertThat(match.mayMatch(
                        new Expression.Not(both), event().text("a", "x").build()))
                .isTrue();
        assertThat(match.mayMatch(
                        new Expression.Exists("a", false),
                        event().text("a", "x").build()))
                .isFalse();
    }

    @Test
    void listsTheFieldsOfACondition() {
        Expression condition = Expression.all(List.of(
                field("a", "x"),
                new Expression.Not(new Expression.Exists("b", true)),
                new Expression.SameField("c", "d", Expression.SameField.Relation.EQUALS, false)));
        assertThat(RuleFields.of(condition).names()).containsExactlyInAnyOrder("a", "b", "c", "d");
        assertThat(RuleFields.of(condition).every()).isFalse();
        assertThat(RuleFields.of(new Expression.Not(new Expression.Keyword(text("x"))))
                        .every())
                .isTrue();
    }

    @Test
    void saysWhatIsNotStored() {
        assertThat(StoredFields.unstoredFields()).containsExactly("target_account", "target_user");
        assertThat(StoredFields.obstacle(new RuleFields(Set.of("user", "target_user"), false)))
                .contains("target_user is not stored");
        assertThat(StoredFields.obstacle(new RuleFields(Set.of("user", "statement", "attribute.Rows"), false)))
                .isEmpty();
        assertThat(StoredFields.obstacle(new RuleFields(Set.of(), true))).isPresent();
    }

    private static DetectionEvent.Builder event() {
        return DetectionEvent.builder("1", 0, LogSource.ANY);
    }

    private static Expression expression(Random random, int depth) {
        String field = FIELDS.get(random.nextInt(FIELDS.size()));
        return switch (random.nextInt(depth == 0 ? 3 : 6)) {
            case 0, 1 -> field(field, VALUES.get(random.nextInt(VALUES.size())));
            case 2 -> new Expression.Exists(field, random.nextBoolean());
            case 3 -> new Expression.Not(expression(random, depth - 1));
            case 4 -> new Expression.All(parts(random, depth));
            default -> new Expression.AtLeast(1 + random.nextInt(2), parts(random, depth));
        };
    }

    private static List<Expression> parts(Random random, int depth) {
        return new ArrayList<>(IntStream.range(0, 2 + random.nextInt(2))
                .mapToObj(part -> expression(random, depth - 1))
                .toList());
    }

    private static Expression field(String name, String value) {
        return new Expression.Field(name, text(value));
    }

    private static WildcardMatcher text(String text) {
        return new WildcardMatcher(text.chars().toArray(), false);
    }
}
