-- lock_advice: serializes the transactions that store the suggestions of a brand, and keeps it from being deleted; no
-- row if it was.
SELECT pg_advisory_xact_lock(hashtextextended('suggestions of ' || id, 0))
FROM public.brands
WHERE id = $1
FOR KEY SHARE
