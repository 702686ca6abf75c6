-- backup_tables: the tables of a backup, by name. Salts of visitors must be forgotten, in backups too.
SELECT format('%I.%I', n.nspname, c.relname) AS name
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname IN ('public', 'private') AND c.relkind = 'r' AND c.relname != 'visitor_salts'
ORDER BY name
