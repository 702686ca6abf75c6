-- invitation: the open invitation whose link has the hash $1, and the user of its email. No password is one who is
-- disabled.
SELECT
    i.email::text AS email,
    i.role,
    o.name AS organization,
    greatest(private.rank(i.role), private.rank('admin')) <= private.rank_of_inviter(i) AS is_allowed,
    u.id AS user_id,
    coalesce(CASE WHEN u.is_active THEN u.password_hash END, '') AS password_hash
FROM private.one_time_links AS l
JOIN public.invitations AS i ON i.id = l.subject
JOIN public.organizations AS o ON o.id = i.organization_id
LEFT JOIN private.users AS u ON u.email OPERATOR(private.=) i.email
WHERE l.hash = $1
  AND l.kind = 'invitation'
  AND l.used_at IS NULL
  AND l.expires_at > now()
  AND i.revoked_at IS NULL
  AND private.rank_of_inviter(i) IS NOT NULL
