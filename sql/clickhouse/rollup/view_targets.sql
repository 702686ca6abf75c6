-- view_targets: the tables that materialized views fill, with the views' SELECTs and the tables' columns.
SELECT
    target.name AS table,
    source.name AS source,
    currentDatabase() AS database,
    view.as_select AS text,
    target.engine_full AS engine,
    target.partition_key AS partition_key,
    columns.names AS names,
    columns.types AS types,
    columns.keys AS keys
FROM
(
    SELECT
        name,
        arrayJoin(arrayZip(dependencies_database, dependencies_table)) AS dependent
    FROM system.tables
    WHERE database = currentDatabase()
) AS source
INNER JOIN system.tables AS view ON view.database = source.dependent.1 AND view.name = source.dependent.2
INNER JOIN system.tables AS target ON target.database = view.target_database AND target.name = view.target_table
INNER JOIN
(
    SELECT
        table,
        groupArray(name) AS names,
        groupArray(type) AS types,
        groupArray(toBool(is_in_sorting_key OR is_in_partition_key)) AS keys
    FROM (SELECT * FROM system.columns WHERE database = currentDatabase() ORDER BY table, position)
    GROUP BY table
) AS columns ON columns.table = target.name
WHERE view.database = currentDatabase() AND target.database = currentDatabase()
ORDER BY source, table
SETTINGS log_comment = 'view targets'
