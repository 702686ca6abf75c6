-- end_sessions: ends sessions of the user $1: all of them, only the session $2, or the others, as the scope $3 says.
UPDATE private.sessions
SET revoked_at = now()
WHERE user_id = $1
  AND revoked_at IS NULL
  AND CASE $3::text
          WHEN 'global' THEN true
          WHEN 'local' THEN id = $2
          WHEN 'others' THEN id <> $2
      END
