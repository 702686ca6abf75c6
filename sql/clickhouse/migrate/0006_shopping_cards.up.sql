-- One row per shopping card. Its id comes from the answer's id and the card's
-- place in the answer, so that every telling of the answer gives the same one.
CREATE TABLE IF NOT EXISTS shopping_cards
(
    organization_id     UUID,
    brand_id            UUID,
    day                 Date,
    platform            LowCardinality(String),
    model               LowCardinality(String),
    region              LowCardinality(String),
    topic_id            UUID,
    branded             Bool,
    answered_at         DateTime64(3, 'UTC'),
    answer_id           UUID,
    id                  UUID,
    position            UInt32,
    title               String CODEC(ZSTD(1)),
    product_brand       String CODEC(ZSTD(1)),
    price_amount        Nullable(Decimal(18, 4)),
    price_currency      LowCardinality(String),
    image_url           String CODEC(ZSTD(1)),
    merchant_url        String CODEC(ZSTD(1)),
    merchant_domain     String CODEC(ZSTD(1)),
    rating              Nullable(Float64),
    review_count        Nullable(Int64),
    matched_id          UUID COMMENT 'the brand or competitor it was matched with, nil: none',
    role                LowCardinality(String),
    sign                Int8
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, answered_at, id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS shopping_cards_view TO shopping_cards AS
SELECT
    organization_id,
    brand_id,
    day,
    platform,
    model,
    region,
    topic_id,
    branded,
    answered_at,
    told.id AS answer_id,
    reinterpretAsUUID(sipHash128(told.id, place)) AS id,
    c.position AS position,
    c.title AS title,
    c.brand AS product_brand,
    c.price_amount AS price_amount,
    c.price_currency AS price_currency,
    c.image_url AS image_url,
    c.merchant_url AS merchant_url,
    c.merchant_domain AS merchant_domain,
    c.rating AS rating,
    c.review_count AS review_count,
    c.matched_id AS matched_id,
    c.role AS role,
    sign
FROM answers AS told
ARRAY JOIN
    cards AS c,
    arrayEnumerate(cards.position) AS place;
