-- lock_prompts: serializes the transactions that add prompts to a brand by their text.
SELECT pg_advisory_xact_lock(hashtextextended('prompts of ' || $1::uuid, 0))
