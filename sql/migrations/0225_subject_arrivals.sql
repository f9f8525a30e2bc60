-- Receives names for subject_vault from the jobs, which cannot read that table, and stores nothing.
CREATE TABLE IF NOT EXISTS tailrace.subject_arrivals {on_cluster}
(
    pseudonym    String,
    kind         String,
    wrapped_key  String,
    sealed_name  String
)
ENGINE = Null
