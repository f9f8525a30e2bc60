-- The statements nearest to one that is not stored: first those with its verb and exactly its tables (`nearest`), then those that
-- share a table with it (`sharing`); 25 of each, the ones with the most words in common first. Column names in another order, or one
-- condition more, change few words or none. `alike` is the number of common words divided by that of all words of both. Two names
-- are one table if they are equal, or equal without the database of the one that has it. `last_seen` may be early
-- (page_query_last_seen.sql). Texts are compared of the 500 statements of each kind that were seen last: a table of a fleet can have
-- tens of thousands.
-- Parameters: verb (in upper case), tables (in lower case, as fingerprints name them), text (its fingerprint).
WITH
    {tables:Array(String)} AS wanted,
    arrayMap(name -> splitByChar('.', name)[-1], wanted) AS plain,
    arrayDistinct(splitByNonAlpha(lower({text:String}))) AS its_words,
    (SELECT (groupArrayIf(id, is_same), groupArrayIf(id, NOT is_same)) FROM (
        SELECT id, min(has_all) AS is_same, max(seen) AS seen_last
        FROM (
            SELECT
                query_id AS id, last_seen_at AS seen,
                arrayDistinct(arrayMap(name -> lower(replaceAll(name, '`', '')), arrayConcat(tables_read, tables_written))) AS names,
                arrayMap(name -> arrayFilter(
                    each -> each = name OR endsWith(each, concat('.', name)) OR endsWith(name, concat('.', each)), wanted),
                    arrayFilter(name -> has(plain, splitByChar('.', name)[-1]), names)) AS matches,
                verb = {verb:String} AND length(matches) = length(names) AND NOT has(matches, [])
                    AND hasAll(arrayFlatten(matches), wanted) AS has_all
            FROM tailrace.fingerprints
            WHERE notEmpty(arrayFlatten(matches)))
        GROUP BY id
        ORDER BY seen_last DESC, id
        LIMIT 500 BY is_same)) AS candidates
SELECT
    id, query, last_seen, if(has(candidates.1, id), 'nearest', 'sharing') AS kind,
    length(arrayIntersect(words, its_words)) / length(arrayDistinct(arrayConcat(words, its_words))) AS alike
FROM (
    SELECT
        query_id AS id, anyLast(fingerprint) AS query, toDateTime(max(last_seen_at), 'UTC') AS last_seen,
        arrayDistinct(splitByNonAlpha(lower(query))) AS words
    FROM tailrace.fingerprints
    WHERE query_id IN (SELECT arrayJoin(arrayConcat(candidates.1, candidates.2)))
    GROUP BY id)
ORDER BY kind, alike DESC, last_seen DESC, id
LIMIT 25 BY kind
