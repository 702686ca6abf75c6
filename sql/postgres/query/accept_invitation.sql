-- accept_invitation: makes the user $3 a member as the link with the hash $1 invites the email $2; a new user ($4) is
-- added with the password hash $5.
WITH link AS (
    UPDATE private.one_time_links
    SET used_at = now()
    WHERE hash = $1
      AND kind = 'invitation'
      AND used_at IS NULL
      AND expires_at > now()
    RETURNING subject, is_shown
), accepted AS (
    UPDATE public.invitations AS i
    SET accepted_at = now()
    FROM link
    WHERE i.id = link.subject
      AND i.email OPERATOR(private.=) $2::text::private.citext
      AND i.revoked_at IS NULL
      AND greatest(private.rank(i.role), private.rank('admin')) <= private.rank_of_inviter(i)
    RETURNING i.organization_id, i.email, i.role, link.is_shown AND i.invited_by IS NOT NULL AS is_unproven
), added AS (
    INSERT INTO private.users (id, email, password_hash, is_unproven)
    SELECT
        $3,
        email,
        nullif($5::text, ''),
        is_unproven
    FROM accepted
    WHERE $4
)
INSERT INTO public.members (organization_id, user_id, role)
SELECT
    organization_id,
    $3,
    role
FROM accepted
