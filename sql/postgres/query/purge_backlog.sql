-- purge_backlog: how many deletions were never purged, and how many seconds the oldest has waited.
SELECT
    count(*)::int AS waiting,
    coalesce(extract(epoch FROM now() - min(at)), 0)::float8 AS oldest
FROM private.tombstones
WHERE purged_at IS NULL
