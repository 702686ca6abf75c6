-- begin_reread: how many answers a run begins with, of one who has it in hand.
UPDATE private.rereads
SET total = $3
WHERE brand_id = $1
  AND holder = $2
