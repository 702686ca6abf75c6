-- end_sessions: ends sessions of the user $1 by the scope $3: all, only the session $2, or all others.
UPDATE private.sessions
SET revoked_at = now()
WHERE user_id = $1
  AND revoked_at IS NULL
  AND CASE $3::text
          WHEN 'global' THEN true
          WHEN 'local' THEN id = $2
          WHEN 'others' THEN id <> $2
      END
