-- lock_rebuild: takes the lock by which rebuilds and purges of the warehouse exclude each other; ends with the connection.
SELECT pg_advisory_lock(hashtextextended('answerscope_rebuild', 0))
