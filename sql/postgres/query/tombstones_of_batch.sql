-- tombstones_of_batch: which of the brands and organizations were deleted, and which months of a topic are frozen.
SELECT
    ARRAY(SELECT id FROM private.tombstones WHERE kind = 'brand' AND id = ANY ($2)) AS brands,
    ARRAY(SELECT id FROM private.tombstones WHERE kind = 'organization' AND id = ANY ($3)) AS organizations,
    ARRAY(SELECT month FROM private.frozen_months WHERE topic = $1 ORDER BY month) AS months
