-- begin_reread: stores how many answers a run will read, before it has appended any.
UPDATE private.rereads
SET total = greatest(total, $3)
WHERE brand_id = $1
  AND holder = $2
