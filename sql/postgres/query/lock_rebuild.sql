-- lock_rebuild: takes the rebuild lock exclusively, after every purge and any other rebuild; it ends with the
-- connection.
SELECT pg_advisory_lock(hashtextextended('answerscope_rebuild', 0))
