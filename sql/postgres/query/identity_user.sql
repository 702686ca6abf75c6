-- identity_user: the user who is $2 at the issuer $1, else the one with the email $3. Where the organization $4 takes them,
-- the account of a member of another one that the inviter may have made is unproven.
SELECT
    u.id,
    u.is_active,
    i.user_id IS NOT NULL AS is_linked,
    i.user_id IS NULL AND EXISTS (
        SELECT
        FROM private.user_identities AS o
        WHERE o.user_id = u.id
          AND o.issuer = $1) AS is_another,
    m.user_id IS NOT NULL AS is_member,
    u.is_unproven AND $4::text <> '' AND EXISTS (
        SELECT
        FROM public.organizations AS o
        WHERE o.id = m.organization_id
          AND o.slug <> $4) AS is_unproven
FROM private.users AS u
LEFT JOIN private.user_identities AS i
  ON i.user_id = u.id
 AND i.issuer = $1
 AND i.subject = $2
LEFT JOIN public.members AS m ON m.user_id = u.id
WHERE i.user_id IS NOT NULL
   OR u.email OPERATOR(private.=) $3::text::private.citext
ORDER BY is_linked DESC
LIMIT 1
