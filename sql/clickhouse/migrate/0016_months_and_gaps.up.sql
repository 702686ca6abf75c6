-- Buckets may be months, and entity_visibility has ranks and gaps. An older release sees a newer schema by this number,
-- and leaves functions and views as they are.
SELECT 1;
