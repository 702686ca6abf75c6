-- start_batch: notes that rows of a topic's partition, of answers of these brands, may change from now on; the batch's number.
-- In the order of the key, since statements of two batches may wait for each other's rows.
WITH
    batch AS MATERIALIZED (
        SELECT nextval('private.batch_starts') AS number
    ),
    started AS (
        INSERT INTO private.batches AS b (topic, brand_id, partition, started)
        SELECT $1::text, brand_id, $2::int, number
        FROM batch, unnest($3::uuid[]) AS brand_id
        ORDER BY brand_id
        ON CONFLICT (topic, brand_id, partition) DO UPDATE SET started = EXCLUDED.started
    )
SELECT number
FROM batch
