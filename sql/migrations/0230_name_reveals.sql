-- Receives requests to reveal a name from an account with the role `reveal`, and stores nothing: neither the token of the person, nor a
-- request of which the token is not valid. The account cannot be given.
CREATE TABLE IF NOT EXISTS tailrace.name_reveals {on_cluster}
(
    reveal_id  UUID,
    token      String,
    pseudonym  String,
    reason     String,
    account    LowCardinality(String) DEFAULT currentUser(),
    CONSTRAINT subject_is_a_pseudonym CHECK match(pseudonym, '^p1-(user|client)-[0-9a-f]+$'),
    CONSTRAINT reason_not_empty CHECK trimBoth(reason) != ''
)
ENGINE = Null
