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
        arrayJoin(arrayFilter((table, database) -> database = currentDatabase(), dependencies_table, dependencies_database)) AS dependent
    FROM system.tables
    WHERE database = currentDatabase()
) AS source
INNER JOIN
(
    SELECT name, as_select, target_table
    FROM system.tables
    WHERE database = currentDatabase() AND target_database = currentDatabase()
) AS view ON view.name = source.dependent
INNER JOIN
(
    SELECT name, engine_full, partition_key
    FROM system.tables
    WHERE database = currentDatabase()
) AS target ON target.name = view.target_table
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
ORDER BY source, table
SETTINGS log_comment = 'view targets'
