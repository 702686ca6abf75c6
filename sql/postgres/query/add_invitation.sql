-- add_invitation: invites the email $2 to the organization $1 as $3, by the user $4, in place of earlier invitations,
-- unless it is a member's.
WITH revoked AS (
    UPDATE public.invitations
    SET revoked_at = now()
    WHERE organization_id = $1
      AND email OPERATOR(private.=) $2::text::private.citext
      AND accepted_at IS NULL
      AND revoked_at IS NULL
      AND expires_at > now()
)
INSERT INTO public.invitations (organization_id, email, role, invited_by)
SELECT $1, $2::text, $3, $4
WHERE NOT EXISTS (
    SELECT
    FROM public.members AS m
    JOIN private.users AS u ON u.id = m.user_id
    WHERE m.organization_id = $1
      AND u.email OPERATOR(private.=) $2::text::private.citext)
RETURNING id
