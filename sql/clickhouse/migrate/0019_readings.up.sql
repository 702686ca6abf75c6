-- Which readings stand of a brand's answers on a day: the sweep of rereads asks that
-- of the whole table every hour, whatever the days of what landed last, and each
-- reread of its brand. A projection is part of its part: it is there with the rows,
-- merges and expires with them, and a part that has none yet is read itself.
ALTER TABLE answers
    MODIFY SETTING lightweight_mutation_projection_mode = 'rebuild';

ALTER TABLE answers
    ADD PROJECTION IF NOT EXISTS readings
    (
        SELECT
            organization_id,
            brand_id,
            day,
            revision,
            extract_version,
            sum(sign)
        GROUP BY organization_id, brand_id, day, revision, extract_version
    );

ALTER TABLE answers MATERIALIZE PROJECTION readings;
