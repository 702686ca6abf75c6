-- unlock_sinks_shared: releases what lock_sinks_shared took on this connection.
SELECT pg_advisory_unlock_shared(hashtextextended('answerscope_sinks', $1::int)) AS locked
