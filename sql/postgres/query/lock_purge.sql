-- lock_purge: takes the rebuild lock shared, so that no rebuild begins during a purge; it ends with the connection.
SELECT pg_advisory_lock_shared(hashtextextended('answerscope_rebuild', 0))
