-- running_commands: the commands of answerscope that are connected to this database.
SELECT DISTINCT coalesce(named[1], 'of an earlier release') AS command
FROM pg_stat_activity
CROSS JOIN regexp_match(application_name, '^answerscope(?: ([^,;]+)|$|;)') AS named
WHERE datname = current_database() AND named IS NOT NULL
ORDER BY command
