-- lock_prompts: lets one transaction at a time add prompts to a brand by their text.
SELECT pg_advisory_xact_lock(hashtextextended('prompts of ' || $1::uuid, 0))
