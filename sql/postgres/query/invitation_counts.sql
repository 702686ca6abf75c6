-- invitation_counts: the name of the organization $1, how many of its invitations are open to others than the email
-- $2 and of the last hour, and whether that is a member's.
SELECT
    o.name,
    (
        SELECT count(*)
        FROM public.invitations AS i
        WHERE i.organization_id = o.id
          AND i.email OPERATOR(private.<>) $2::text::private.citext
          AND i.accepted_at IS NULL
          AND i.revoked_at IS NULL
          AND i.expires_at > now()) AS open,
    (
        SELECT count(*)
        FROM public.invitations AS i
        WHERE i.organization_id = o.id
          AND i.created_at > now() - INTERVAL '1 hour') AS last_hour,
    EXISTS (
        SELECT
        FROM public.members AS m
        JOIN private.users AS u ON u.id = m.user_id
        WHERE m.organization_id = o.id
          AND u.email OPERATOR(private.=) $2::text::private.citext) AS is_member
FROM public.organizations AS o
WHERE o.id = $1
