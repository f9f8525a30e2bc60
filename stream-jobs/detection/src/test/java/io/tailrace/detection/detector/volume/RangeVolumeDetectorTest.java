package io.tailrace.detection.detector.volume;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.detection.detector.DetectorRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RangeVolumeDetectorTest {

    private static final double DAY = 24;
    private static final int LEARNED = 15;

    private DetectorRun run = new DetectorRun("volume_ranges: {}");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "select * from players where id > ? order by id limit ?",
                "select id, email from app.players where id between ? and ?",
                "select * from players order by id limit ?",
                "select email from players where id mod ? = ?",
                "select email from players where crc?(email) % ? = ?",
                "select * from players where mod(id,?)=?",
                "select * from `players` p where p.name like ? order by p.name",
                "select * from members where left(name,?) = ?",
                "select mid(x,?,?) from t where year(born) = ? order by id",
                "select * from t where name like ? and born between ? and ?",
                "delete from x where id >= ? and id < ?",
                "delete quick from x where id between ? and ? limit ?",
                "update players set email = hex(aes_encrypt(email, @k)) where id between ? and ?"
            })
    void partsOfATable(String statement) {
        assertThat(RangeStatements.isRange(statement)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "select * from players where id = ?",
                "select * from players where id in (?+)",
                "select * from orders where state = ? and created > ? limit ?",
                "select a from t join u on u.id = t.id where t.id > ? limit ?",
                "select * from t where id > (select max(id) from u)",
                "select count(*) from t where created > ?",
                "select state, count(*) from t where created > ? group by state",
                "update t set a = ? where id = ?",
                "delete from sessions"
            })
    void otherStatements(String statement) {
        assertThat(RangeStatements.isRange(statement)).isFalse();
    }

    @Test
    void aPersonDeletesATablePartByPartOnOneDay() {
        worksFor(LEARNED);
        deletes(LEARNED, 30);
        assertThat(run.alert().facts())
                .containsEntry("part", "DELETE app.orders")
                .containsEntry("threshold", "20")
                .containsEntry("baseline_days", "0");
        assertThat(run.alert().metric()).isEqualTo(21);
        assertThat(run.alert().facts().get("explanation")).endsWith("because it executed none before.");
    }

    @Test
    void aJobThatDeletesPartByPartEveryDayIsNotReported() {
        for (int day = 0; day < LEARNED + 5; day++) {
            deletes(day, 30 + day);
        }
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void aNewListOfABusyApplicationIsNotReported() {
        for (int day = 0; day < LEARNED; day++) {
            for (int i = 0; i < 600; i++) {
                statement(day, i, "SELECT", "select * from orders where id = ?", "a");
            }
        }
        deletes(LEARNED, 60);
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void nothingIsReportedWhileAnAccountIsLearned() {
        worksFor(3);
        deletes(3, 100);
        assertThat(run.alerts()).isEmpty();
    }

    @Test
    void aPersonCopiesATableOfADataClassInFewPartsOnSeveralDays() {
        worksFor(LEARNED);
        reads(LEARNED, 8);
        reads(LEARNED + 1, 8);
        assertThat(run.alerts()).isEmpty();
        reads(LEARNED + 2, 8);
        reads(LEARNED + 3, 8);
        assertThat(run.alert().facts()).containsEntry("part", "SELECT app.orders");
        assertThat(run.alert().facts().get("explanation")).contains("on three or more days");
    }

    @Test
    void aSlowCopyBeginsAWeekAfterTheFirstDayOfAnAccount() {
        for (int first : new int[] {6, 8}) {
            DetectorRun young = new DetectorRun("volume_ranges: {}");
            run = young;
            worksFor(first);
            for (int day = first; day < first + 4; day++) {
                reads(day, 8);
            }
            assertThat(young.alerts()).hasSize(first > 7 ? 1 : 0);
        }
    }

    @Test
    void partsThatAnAccountReadBeforeAreNoCopy() {
        worksFor(LEARNED);
        reads(2, 1);
        for (int day = LEARNED; day < LEARNED + 5; day++) {
            reads(day, 8);
        }
        assertThat(run.alerts()).isEmpty();
    }

    private void reads(int day, int number) {
        for (int i = 0; i < number; i++) {
            String[] fields = {
                "user",
                "eve",
                "verb",
                "SELECT",
                "query_id",
                "c",
                "table",
                "app.orders",
                "data_class_read",
                "pii",
                "statement",
                "select * from orders where id > ? order by id limit ?"
            };
            run.at(day * DAY + 8 + i / 60.0, fields);
        }
    }

    private void worksFor(int days) {
        for (int day = 0; day < days; day++) {
            for (int i = 0; i < 10; i++) {
                statement(day, i, "SELECT", "select * from orders where id = ?", "a");
            }
        }
    }

    private void deletes(int day, int number) {
        for (int i = 0; i < number; i++) {
            statement(day, i, "DELETE", "delete from orders where id between ? and ?", "b");
        }
    }

    private void statement(int day, int minute, String verb, String statement, String query) {
        String[] fields = {"user", "eve", "verb", verb, "statement", statement, "query_id", query, "table", "app.orders"
        };
        run.at(day * DAY + 8 + minute / 60.0, fields);
    }
}
