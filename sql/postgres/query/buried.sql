-- buried: which of the given brands and organizations were deleted.
SELECT
    ARRAY(SELECT id FROM private.tombstones WHERE kind = 'brand' AND id = ANY ($1)) AS brands,
    ARRAY(SELECT id FROM private.tombstones WHERE kind = 'organization' AND id = ANY ($2)) AS organizations
