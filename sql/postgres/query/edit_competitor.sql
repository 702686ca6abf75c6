-- edit_competitor: renames a competitor of a brand where $3 is not null, and adds to and removes from its lists.
UPDATE public.competitors AS c
SET name = coalesce($3::text, c.name),
    aliases = private.list_edited(c.aliases, $4::text[], $5::text[]),
    domains = private.list_edited(c.domains, private.domains_of($6::text[]), private.domains_of($7::text[]))
WHERE c.brand_id = $1::uuid
  AND c.name = $2::text
RETURNING c.id
