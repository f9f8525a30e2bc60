package io.tailrace.cli.backtest;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.cli.input.RuleVersionFiles;
import io.tailrace.detection.bundle.RuleBundle;
import io.tailrace.detection.detector.StatefulDetector;
import io.tailrace.detection.detector.config.DetectorConfig;
import io.tailrace.detection.sigma.reader.BundleFiles;
import io.tailrace.detection.sigma.reader.RuleSetReader;
import io.tailrace.detection.sigma.rule.CorrelationRule;
import io.tailrace.detection.sigma.rule.RuleContext;
import io.tailrace.detection.sigma.rule.RuleHeader;
import io.tailrace.detection.sigma.rule.RuleSet;
import io.tailrace.detection.sigma.rule.SigmaRule;
import io.tailrace.detection.taxonomy.DatabaseFieldMapping;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RuleSelectionTest {

    private static final Path PACK = Path.of("../../rules");
    private static final RuleContext CONTEXT = new RuleContext(Map.of(), new DatabaseFieldMapping());
    private static final String BRUTE_FORCE = "Many refused logins to one account";

    @Test
    void everyRuleOfThePackIsJudgedOrNamedWithItsReason() throws IOException {
        RuleSet pack = new RuleSetReader(CONTEXT).path(PACK).ruleSet();
        Path file = PACK.resolve(BundleFiles.DETECTORS);
        List<StatefulDetector> detectors = DetectorConfig.of(file.toString(), Files.readString(file), CONTEXT)
                .detectors();
        RuleSelection all = RuleSelection.of(pack, detectors, header -> true, header -> false);
        assertThat(all.judged().size() + all.notJudged().size())
                .as("all but the rules whose alerts a detector raises")
                .isEqualTo(
                        RuleBundle.withoutReplaced(pack, detectors).alerting().size() + detectors.size());
        assertThat(all.judged()).hasSizeGreaterThan(100);
        assertThat(all.notJudged().entrySet())
                .extracting(entry -> entry.getKey().name() + ": " + entry.getValue())
                .contains(
                        "privilege_chain: target_user is not stored",
                        "coverage: it reads the census, not events",
                        "coverage_gap: it reads the ledger, not events",
                        "plan_slower: it reads changes of plans, not events",
                        "signed_range: it reads signed ranges, not events");
        assertThat(all.judged())
                .extracting(RuleHeader::name)
                .contains("account_dropped", "account_locked", "privileges_revoked", "role_activated");
    }

    /** The names of changed accounts and roles are not stored; the others read no events. */
    @Test
    void rulesThatABacktestLeavesOut() throws IOException {
        RuleSet pack = new RuleSetReader(CONTEXT).path(PACK).ruleSet();
        Path file = PACK.resolve(BundleFiles.DETECTORS);
        List<StatefulDetector> detectors = DetectorConfig.of(file.toString(), Files.readString(file), CONTEXT)
                .detectors();
        RuleSelection all = RuleSelection.of(pack, detectors, header -> true, header -> false);
        assertThat(all.notJudged().keySet())
                .extracting(RuleHeader::name)
                .containsExactlyInAnyOrder(
                        "account_leased",
                        "auditor_disabled",
                        "coverage",
                        "coverage_gap",
                        "login_with_password_set_by_other",
                        "new_account",
                        "new_administrator",
                        "new_administrator_grantee_untold",
                        "new_administrator_name_untold",
                        "new_limited_account",
                        "plan_slower",
                        "privilege_chain",
                        "privileged_role_activated",
                        "privileges_granted",
                        "refused_granted_login",
                        "short_lived_account",
                        "short_lived_account_drop_untold",
                        "short_lived_account_name_untold",
                        "signed_range");
    }

    @Test
    void aCorrelationBringsTheRulesThatItCounts() throws IOException {
        RuleSet pack = new RuleSetReader(CONTEXT).path(PACK).ruleSet();
        RuleSelection one = RuleSelection.of(pack, List.of(), RuleSelectionTest::isBruteForce, header -> false);
        assertThat(one.judged()).extracting(RuleHeader::title).containsExactly(BRUTE_FORCE);
        CorrelationRule correlation = one.rules().correlations().get(0);
        assertThat(one.rules().rules())
                .extracting(rule -> rule.header().key())
                .containsExactlyInAnyOrderElementsOf(correlation.rules());
        assertThat(one.rules().rules()).noneMatch(SigmaRule::alerts);
        assertThat(one.longestWindow()).isEqualTo(correlation.timespanMicros());
    }

    private static boolean isBruteForce(RuleHeader header) {
        return header.title().equals(BRUTE_FORCE);
    }

    @Test
    void exceptionsApplyAndTheirFieldsMustBeStored() {
        RuleSelection stored = RuleSelection.of(withException("user"), List.of(), header -> true, header -> false);
        assertThat(stored.notJudged()).isEmpty();
        assertThat(stored.rules().exceptions().all()).hasSize(1);
        assertThat(stored.fields().names()).contains("user");

        RuleSelection unstored =
                RuleSelection.of(withException("target_user"), List.of(), header -> true, header -> false);
        assertThat(unstored.judged()).isEmpty();
        assertThat(unstored.notJudged()).containsValue("target_user is not stored");
    }

    private static RuleSet withException(String field) {
        String yaml =
                """
                title: Writes
                id: 00000000-0000-4000-8000-000000000001
                name: writes
                logsource: {product: mysql, service: audit}
                detection: {selection: {verb: INSERT}, condition: selection}
                level: low
                ---
                title: The loader writes
                exception:
                  rule: writes
                  selection: {%s: loader}
                  reason: its purpose
                  owner: team
                  expires: 2099-01-01
                """
                        .formatted(field);
        RuleSet rules = new RuleSetReader(CONTEXT).text("writes.yml", yaml).ruleSet();
        assertThat(rules.errors()).isEmpty();
        return rules;
    }

    @Test
    void aFileReplacesTheRulesWithItsIds(@TempDir Path directory) throws IOException {
        Path pack = Files.createDirectory(directory.resolve("pack"));
        Path old = Files.writeString(pack.resolve("a.yml"), "title: A\nid: one\n");
        Path other = Files.writeString(pack.resolve("b.yml"), "title: B\nid: two\n");
        Files.writeString(pack.resolve(BundleFiles.DETECTORS), "{}");
        Path draft = Files.writeString(directory.resolve("draft.yml"), "title: A of tomorrow\nid: 'one' # the same\n");
        assertThat(RuleVersionFiles.of(List.of(pack), List.of(draft))).containsExactly(other, draft);
        assertThat(RuleVersionFiles.of(List.of(pack), List.of(old))).containsExactly(other, old);
        assertThat(RuleVersionFiles.of(List.of(pack), List.of())).containsExactly(pack);
    }
}
