-- add_oauth_client: registers an app with the name $1 and the redirect URIs $2, and deletes apps without a grant: never
-- used within a day, not used for 90 days, or never used and behind the newest 10,000.
WITH unused AS (
    DELETE FROM private.oauth_clients AS c
    WHERE (
        coalesce(c.used_at + INTERVAL '90 days', c.created_at + INTERVAL '1 day') < now()
        OR c.id IN (
            SELECT id
            FROM private.oauth_clients
            WHERE used_at IS NULL
            ORDER BY created_at DESC
            OFFSET 10000))
      AND NOT EXISTS (
          SELECT
          FROM private.oauth_grants AS g
          WHERE g.client_id = c.id::text)
)
INSERT INTO private.oauth_clients (name, redirect_uris)
VALUES ($1, $2)
RETURNING id
