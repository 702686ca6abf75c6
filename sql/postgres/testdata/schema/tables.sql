-- tables: our tables, each with its columns, constraints, indexes, triggers, policies and grants.
SELECT
    format('table %I.%I', n.nspname, c.relname) AS name,
    concat_ws(E'\n',
        format(E'CREATE %sTABLE %I.%I (\n%s\n);', CASE c.relpersistence WHEN 'u' THEN 'UNLOGGED ' END, n.nspname, c.relname, concat_ws(E',\n',
            (SELECT string_agg(concat_ws(' ', '   ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
                        CASE WHEN a.attnotnull THEN 'NOT NULL' END,
                        CASE WHEN a.attidentity <> '' THEN 'GENERATED ALWAYS AS IDENTITY' END,
                        'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid)), E',\n' ORDER BY a.attnum)
             FROM pg_catalog.pg_attribute AS a
             LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
             WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
            (SELECT string_agg(format('    CONSTRAINT %I %s', k.conname, pg_get_constraintdef(k.oid)), E',\n'
                        ORDER BY position(k.contype IN 'pufc'), k.conname)
             FROM pg_catalog.pg_constraint AS k
             WHERE k.conrelid = c.oid AND k.contype IN ('p', 'u', 'f', 'c')))),
        format('ALTER TABLE %I.%I OWNER TO %I;', n.nspname, c.relname, pg_get_userbyid(c.relowner)),
        (SELECT string_agg(pg_get_indexdef(i.indexrelid) || ';', E'\n' ORDER BY i.indexrelid::regclass::text)
         FROM pg_catalog.pg_index AS i
         WHERE i.indrelid = c.oid
           AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS k WHERE k.conindid = i.indexrelid AND k.conrelid = c.oid)),
        format('COMMENT ON TABLE %I.%I IS %L;', n.nspname, c.relname, obj_description(c.oid, 'pg_class')),
        (SELECT string_agg(format('COMMENT ON COLUMN %I.%I.%I IS %L;', n.nspname, c.relname, a.attname, col_description(c.oid, a.attnum)), E'\n' ORDER BY a.attnum)
         FROM pg_catalog.pg_attribute AS a
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND col_description(c.oid, a.attnum) IS NOT NULL),
        (SELECT string_agg(pg_get_triggerdef(t.oid) || ';', E'\n' ORDER BY t.tgname)
         FROM pg_catalog.pg_trigger AS t
         WHERE t.tgrelid = c.oid AND NOT t.tgisinternal),
        CASE WHEN c.relrowsecurity THEN format('ALTER TABLE %I.%I ENABLE ROW LEVEL SECURITY;', n.nspname, c.relname) END,
        CASE WHEN c.relforcerowsecurity THEN format('ALTER TABLE %I.%I FORCE ROW LEVEL SECURITY;', n.nspname, c.relname) END,
        (SELECT string_agg(concat_ws(' ', format('CREATE POLICY %I ON %I.%I FOR %s TO %s', p.policyname, n.nspname, c.relname, p.cmd, array_to_string(p.roles, ', ')),
                        'USING (' || p.qual || ')', 'WITH CHECK (' || p.with_check || ')') || ';', E'\n' ORDER BY p.policyname)
         FROM pg_catalog.pg_policies AS p
         WHERE p.schemaname = n.nspname AND p.tablename = c.relname),
        (SELECT string_agg(format('GRANT %s ON %I.%I TO %s;', g.rights, n.nspname, c.relname, g.grantee), E'\n' ORDER BY g.grantee, g.rights)
         FROM (SELECT pg_get_userbyid(a.grantee)::text AS grantee, string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type) AS rights
               FROM aclexplode(c.relacl) AS a
               WHERE a.grantee <> c.relowner
               GROUP BY a.grantee
               UNION ALL
               SELECT pg_get_userbyid(a.grantee)::text,
                      format('%s (%s)', a.privilege_type, string_agg(quote_ident(col.attname), ', ' ORDER BY col.attnum))
               FROM pg_catalog.pg_attribute AS col
               CROSS JOIN aclexplode(col.attacl) AS a
               WHERE col.attrelid = c.oid
               GROUP BY a.grantee, a.privilege_type) AS g)
    ) AS text
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname IN ('private', 'public')
  AND c.relkind IN ('r', 'p', 'v', 'm')
  AND c.relname <> 'schema_migrations'
ORDER BY
    n.nspname,
    c.relname
