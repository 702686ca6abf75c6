-- let_go_sinks: ends what hold_sinks began on this connection.
SELECT pg_advisory_unlock_shared(hashtextextended('answerscope_sinks', $1::int)) AS locked
