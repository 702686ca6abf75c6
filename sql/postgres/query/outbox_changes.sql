-- outbox_changes: the first changes of the outbox.
SELECT
    id,
    kind,
    row_id,
    organization_id,
    brand_id,
    payload,
    deleted,
    at
FROM private.outbox
ORDER BY id
LIMIT $1
