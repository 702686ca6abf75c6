-- running_commands: the commands of answerscope that are connected to this database, and the shards that each knows.
SELECT DISTINCT
    named[1] AS command,
    coalesce(named[2]::integer, 0) AS shards
FROM pg_stat_activity
CROSS JOIN regexp_match(application_name, '^answerscope ([^,;]+)(?:, ([0-9]+) shards)?') AS named
WHERE datname = current_database() AND named IS NOT NULL
ORDER BY command, shards
