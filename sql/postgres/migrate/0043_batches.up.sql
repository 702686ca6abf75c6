-- What cached results depend on: batches of answers by brand, of visits and crawls by topic, with the nil id.
CREATE SEQUENCE private.batch_starts;
GRANT USAGE ON SEQUENCE private.batch_starts TO answerscope_service;

CREATE TABLE private.batches (
    topic     text    NOT NULL CHECK (topic IN ('answers', 'visits', 'crawls')),
    brand_id  uuid    NOT NULL,
    partition integer NOT NULL,
    started   bigint  NOT NULL,
    settled   bigint  NOT NULL DEFAULT 0,
    PRIMARY KEY (topic, brand_id, partition)
);
COMMENT ON TABLE private.batches IS
    'Of each partition the batch that last began to land, and the one that has landed. Where they differ, a batch is under way, or its process died and another will land it.';
CALL private.protect('private.batches', 'SELECT, INSERT, UPDATE');
