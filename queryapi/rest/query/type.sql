-- type: the type that a name means to a role in the schemas of a search path, as SQL; null where there is none.
SELECT (
  SELECT CASE WHEN s.path IS NOT NULL AND s.role IS NOT NULL THEN pg_catalog.format_type(to_regtype($3), NULL) END
  FROM (
    SELECT pg_catalog.set_config('search_path', $1, true) AS path, pg_catalog.set_config('role', $2, true) AS role
    OFFSET 0
  ) AS s
)
