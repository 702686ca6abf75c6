-- type: the type that a name means in the schemas of a search path, as SQL; null where there is none.
SELECT (
  SELECT CASE WHEN p.path IS NOT NULL THEN pg_catalog.format_type(to_regtype($2), NULL) END
  FROM (SELECT pg_catalog.set_config('search_path', $1, true) AS path OFFSET 0) AS p
)
