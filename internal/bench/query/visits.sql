-- visits: lands some days' visits of every brand's site in visits, so that visit_daily fills.
-- A page is one of 40, a few of them far oftener visited than the rest; one visit of twenty is a goal.
INSERT INTO visits
(
    organization_id, brand_id, day, id, log_topic, at, event, platform, platform_by, host, path, country, country_by,
    session, new_session, visitor, goal_name, goal_value, goal_currency
)
WITH
    brands AS
    (
        SELECT
            row_number() OVER (ORDER BY slug) - 1 AS brand,
            organization_id,
            id AS brand_id,
            slug
        FROM dimension_brands FINAL
    ),
    beacons AS
    (
        SELECT
            number % {brands:UInt32} AS brand,
            {first_day:Date} + intDiv(number, {visits:UInt32} * {brands:UInt32}) AS day,
            cityHash64({first_day:Date}, number) AS dice
        FROM numbers({visits:UInt64} * {brands:UInt64} * {days:UInt64})
    )
SELECT
    organization_id,
    brand_id,
    day,
    reinterpretAsUUID(
        toUInt128(bitOr(bitShiftLeft(toUInt64(toUnixTimestamp64Milli(at)), 16), toUInt64(0x7000 + dice % 0x1000)))
        + bitShiftLeft(toUInt128(bitOr(bitShiftLeft(toUInt64(2), 62), bitShiftRight(dice, 2))), 64)) AS id,
    'bench',
    toDateTime64(day, 3, 'UTC') + toIntervalMillisecond(dice % 86400000) AS at,
    if(dice % 20 = 0, 'goal', 'view') AS event,
    ['chatgpt', 'chatgpt', 'chatgpt', 'perplexity', 'gemini', 'copilot'][cityHash64(dice, 'platform') % 6 + 1],
    'referrer',
    concat(slug, '.example'),
    concat('/page/', toString(toUInt32(40 * pow(cityHash64(dice, 'page') % 1000 / 1000, 2)))),
    ['US', 'US', 'US', 'US', 'DE', 'DE', 'GB', 'FR', 'JP', 'BR', 'IN', ''][cityHash64(dice, 'country') % 12 + 1],
    'database',
    toString(dice % 1000000),
    dice % 2 = 0,
    dice,
    if(event = 'goal', 'purchase', ''),
    if(event = 'goal', toDecimal64(49.5, 6), NULL),
    if(event = 'goal', 'EUR', '')
FROM beacons
INNER JOIN brands ON brands.brand = beacons.brand
