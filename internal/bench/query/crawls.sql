-- crawls: lands some days' requests of AI crawlers for every brand's site in crawls, so that crawl_daily fills.
-- A page is one of 40, asked for alike; one request of twenty finds nothing, one of ten comes from an address that is nobody's.
INSERT INTO crawls
(
    organization_id, brand_id, day, id, log_topic, at, crawler, operator, platform, purpose, host, path, status, bytes, verified
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
    requests AS
    (
        SELECT
            number % {brands:UInt32} AS brand,
            {first_day:Date} + intDiv(number, {crawls:UInt32} * {brands:UInt32}) AS day,
            cityHash64({first_day:Date}, number, 'crawl') AS dice,
            [
                ('GPTBot', 'OpenAI', 'chatgpt', 'training'), ('GPTBot', 'OpenAI', 'chatgpt', 'training'), ('OAI-SearchBot', 'OpenAI', 'chatgpt', 'search'),
                ('ChatGPT-User', 'OpenAI', 'chatgpt', 'user'), ('PerplexityBot', 'Perplexity', 'perplexity', 'search'),
                ('ClaudeBot', 'Anthropic', 'claude', 'training'), ('CCBot', 'Common Crawl Foundation', '', 'training')
            ][cityHash64(dice, 'crawler') % 7 + 1] AS reader
        FROM numbers({crawls:UInt64} * {brands:UInt64} * {days:UInt64})
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
    reader.1,
    reader.2,
    reader.3,
    reader.4,
    concat(slug, '.example'),
    concat('/page/', toString(cityHash64(dice, 'page') % 40)),
    if(dice % 20 = 0, 404, 200),
    if(dice % 20 = 0, 512, 4000 + dice % 60000),
    dice % 10 != 0
FROM requests
INNER JOIN brands ON brands.brand = requests.brand
