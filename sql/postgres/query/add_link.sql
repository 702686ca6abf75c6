-- add_link: makes a link with the hash $1, of the kind $3 for the subject $4 in the organization $2, which works for
-- the time $5, and which its maker sees ($6). Earlier links of the subject stop.
WITH stopped AS (
    UPDATE private.one_time_links
    SET used_at = now()
    WHERE subject = $4
      AND kind = $3
      AND used_at IS NULL
)
INSERT INTO private.one_time_links (hash, organization_id, kind, subject, expires_at, is_shown)
VALUES ($1, $2, $3, $4, now() + $5::interval, $6)
