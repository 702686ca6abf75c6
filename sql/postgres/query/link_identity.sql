-- link_identity: links the user $3 to $2 at the issuer $1, removes their password, ends their sessions and apps, and
-- revokes their keys: an attacker may have made the account in advance.
WITH linked AS (
    INSERT INTO private.user_identities (issuer, subject, user_id)
    VALUES ($1, $2, $3)
), ended AS (
    UPDATE private.sessions
    SET revoked_at = now()
    WHERE user_id = $3
      AND revoked_at IS NULL
), disconnected AS (
    DELETE FROM private.oauth_grants
    WHERE user_id = $3
), revoked AS (
    UPDATE public.api_keys
    SET revoked_at = now()
    WHERE user_id = $3
      AND revoked_at IS NULL
), cleared AS (
    UPDATE private.users
    SET
        password_hash = NULL,
        is_unproven = false
    WHERE id = $3
      AND (password_hash IS NOT NULL OR is_unproven)
)
SELECT private.log_audit('identity linked', m.organization_id, u.email::text || ' to ' || $1)
FROM private.users AS u
LEFT JOIN public.members AS m ON m.user_id = u.id
WHERE u.id = $3
