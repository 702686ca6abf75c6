-- One row per shopping card. Its id comes from the answer's id and the card's position in the answer, so that it
-- is the same for every record of the answer.
CREATE TABLE IF NOT EXISTS shopping_cards
(
    organization_id UUID COMMENT 'organization of the brand',
    brand_id        UUID COMMENT 'id of the brand',
    day             Date COMMENT 'UTC day',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    model           LowCardinality(String) COMMENT 'requested model, empty: none',
    region          LowCardinality(String) COMMENT 'requested region, empty: none',
    topic_id        UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded         Bool COMMENT 'the prompt names the brand',
    answered_at     DateTime64(3, 'UTC') COMMENT 'UTC time of the answer',
    answer_id       UUID COMMENT 'id of the answer',
    id              UUID COMMENT 'id of the card, made of answer and position',
    position        UInt32 COMMENT '1-based position of the card in the answer',
    title           String COMMENT 'title of the product' CODEC(ZSTD(1)),
    product_brand   String COMMENT 'brand of the product, empty: unknown' CODEC(ZSTD(1)),
    price_amount    Nullable(Decimal(18, 4)) COMMENT 'price in price_currency, NULL: unknown',
    price_currency  LowCardinality(String) COMMENT 'ISO 4217, empty: unknown',
    image_url       String COMMENT 'picture of the product, empty: unknown' CODEC(ZSTD(1)),
    merchant        String COMMENT 'name of the shop, empty: unknown' CODEC(ZSTD(1)),
    merchant_url    String COMMENT 'where it is sold, empty: unknown' CODEC(ZSTD(1)),
    merchant_domain String COMMENT 'registrable domain of merchant_url' CODEC(ZSTD(1)),
    rating          Nullable(Float64) COMMENT 'as returned, NULL: unknown',
    review_count    Nullable(Int64) COMMENT 'as returned, NULL: unknown',
    matched_id      UUID COMMENT 'brand or competitor whose product it is, nil: neither',
    role            LowCardinality(String) COMMENT 'own, competitor or other',
    sign            Int8 COMMENT '1: the row counts, -1: it takes an earlier one back. Figures are sums of sign x value'
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, answered_at, id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0
COMMENT 'One row per shopping card, and per correction: those whose signs sum to 1 count.';

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
    c.merchant AS merchant,
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
