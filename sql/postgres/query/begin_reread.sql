-- begin_reread: saves how many answers a run that has appended none yet will read.
UPDATE private.rereads
SET total = greatest(total, $3)
WHERE brand_id = $1
  AND holder = $2
