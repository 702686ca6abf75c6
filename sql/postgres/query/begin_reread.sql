-- begin_reread: how many answers a run has before it that has told none yet, of one who has it in hand.
UPDATE private.rereads
SET total = greatest(total, $3)
WHERE brand_id = $1
  AND holder = $2
