-- lock_rebuild: takes the rebuild lock exclusively, once no purge and no other rebuild has it; ends with the connection.
SELECT pg_advisory_lock(hashtextextended('answerscope_rebuild', 0))
