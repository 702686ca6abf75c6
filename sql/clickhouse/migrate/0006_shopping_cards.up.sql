-- One row per shopping card. Its id comes from the answer's id and the card's position in the answer, so that every
-- record of the answer gives the same one.
CREATE TABLE IF NOT EXISTS shopping_cards
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    brand_id        UUID COMMENT 'brand that the answers are read for',
    day             Date COMMENT 'UTC day of the answers',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform that answered',
    model           LowCardinality(String) COMMENT 'requested model, empty: none was named',
    region          LowCardinality(String) COMMENT 'region that was asked for, empty: none',
    topic_id        UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded         Bool COMMENT 'the prompt names the brand',
    answered_at     DateTime64(3, 'UTC') COMMENT 'when the answer came, UTC',
    answer_id       UUID COMMENT 'id of the answer',
    id              UUID COMMENT 'of the card, from the id of the answer and the place in it',
    position        UInt32 COMMENT '1-based place in the answer',
    title           String COMMENT 'title of the product' CODEC(ZSTD(1)),
    product_brand   String COMMENT 'brand of the product as returned, empty: not said' CODEC(ZSTD(1)),
    price_amount    Nullable(Decimal(18, 4)) COMMENT 'price in price_currency, NULL: not said',
    price_currency  LowCardinality(String) COMMENT 'ISO 4217, empty: not said',
    image_url       String COMMENT 'empty: not said' CODEC(ZSTD(1)),
    merchant_url    String COMMENT 'where it is sold, empty: not said' CODEC(ZSTD(1)),
    merchant_domain String COMMENT 'registrable domain of merchant_url' CODEC(ZSTD(1)),
    rating          Nullable(Float64) COMMENT 'as returned, NULL: not said',
    review_count    Nullable(Int64) COMMENT 'as returned, NULL: not said',
    matched_id      UUID COMMENT 'brand or competitor whose product it is, nil: neither',
    role            LowCardinality(String) COMMENT 'own, competitor or other',
    sign            Int8 COMMENT '1: the row counts, -1: an earlier one is taken back'
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, answered_at, id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0
COMMENT 'One row per shopping card, and per correction. Those whose signs sum to 1 count.';

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
    landed.id AS answer_id,
    reinterpretAsUUID(sipHash128(landed.id, place)) AS id,
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
FROM answers AS landed
ARRAY JOIN
    cards AS c,
    arrayEnumerate(cards.position) AS place;
