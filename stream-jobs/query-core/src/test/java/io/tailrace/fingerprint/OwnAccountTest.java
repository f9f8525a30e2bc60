package io.tailrace.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import io.tailrace.lexer.ByteText;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An account that changes a row of its own. */
class OwnAccountTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '^',
            value = {
                "eva.moll; UPDATE staff SET salary = 9 WHERE login = 'eva.moll'; true",
                "hr_akinyi; update staff set pay=9 where email='J.Akinyi@uzima.example'; true",
                "hr_akinyi; update pay set b=9 where id=(select id from staff where name = \"Akinyi, Jane\"); true",
                "amy; UPDATE t SET x = 1 WHERE login = SUBSTRING_INDEX(USER(), '@', 1); true",
                "amy; UPDATE t SET x = 1 WHERE login = CURRENT_USER; true",
                "hr_akinyi; UPDATE t SET by = 'akinyi' WHERE id = 5; false",
                "hr_akinyi; UPDATE t SET x = 1 WHERE name = 'akinyiro'; false",
                "amy; UPDATE t SET x = 1 WHERE name = 'amy'; false",
                "app_users; UPDATE t SET x = 1 WHERE kind = 'users'; false",
                "hr_akinyi; UPDATE t SET x = 1 WHERE note = 'ask user()'; false",
                "hr_akinyi; DELETE FROM t WHERE name = 'akinyi'; false",
                "^^; UPDATE t SET x = 1 WHERE name = ''; false"
            })
    void isChanged(String user, String statement, boolean expected) {
        byte[] bytes = ByteText.bytes(statement);
        String verb = statement.substring(0, statement.indexOf(' ')).toUpperCase();
        assertThat(OwnAccount.isChanged(verb, user, bytes, 0, bytes.length)).isEqualTo(expected);
    }
}
