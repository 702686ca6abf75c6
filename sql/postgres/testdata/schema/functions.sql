-- functions: our functions, those of extensions left out, and who may call them.
SELECT
    format('function %I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) AS name,
    concat_ws(E'\n',
        rtrim(pg_get_functiondef(p.oid), E'\n') || ';',
        format('ALTER FUNCTION %s OWNER TO %I;', p.oid::regprocedure, pg_get_userbyid(p.proowner)),
        format('COMMENT ON FUNCTION %s IS %L;', p.oid::regprocedure, obj_description(p.oid, 'pg_proc')),
        (SELECT string_agg(format('GRANT EXECUTE ON FUNCTION %s TO %s;', p.oid::regprocedure, g.grantee), E'\n' ORDER BY g.grantee)
         FROM (SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(a.grantee)::text END AS grantee
               FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
               WHERE a.grantee <> p.proowner) AS g)
    ) AS text
FROM pg_catalog.pg_proc AS p
JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname IN ('private', 'public')
  AND NOT EXISTS (
      SELECT
      FROM pg_catalog.pg_depend AS d
      WHERE d.classid = 'pg_proc'::regclass
        AND d.objid = p.oid
        AND d.deptype = 'e')
ORDER BY
    n.nspname,
    p.proname,
    pg_get_function_identity_arguments(p.oid)
