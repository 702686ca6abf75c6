-- answers: lands the runs of some days in answers, so that every view of it fills.
-- A prompt is asked once a week on each of four platforms, samples times, so that a brand of 25 prompts has 14 or 15 runs
-- a day and sample. All is drawn from hashes of ordinals: more samples are more answers of the same prompts, URLs and
-- brands, and a second load is the first again.
INSERT INTO answers
(
    organization_id, brand_id, day, id, sign, revision, extract_version, log_topic,
    answered_at, platform, model, served_model, region, language, surface, sample, prompt_id, topic_id, prompt_text, branded,
    given_up, given_up_class, attempts, latency_ms, finish, text, search_queries,
    brand_name, mention_count, position, citation_count, visibility_score, sentiment, sentiment_method,
    competitors.id, competitors.name, competitors.mention_count, competitors.position, competitors.citation_count,
    competitors.visibility_score, competitors.sentiment,
    citations.url, citations.title, citations.cited, citations.host, citations.domain, citations.listed_type, citations.owned,
    citations.competitor_id,
    cards.position, cards.title, cards.brand, cards.price_amount, cards.price_currency, cards.image_url, cards.merchant, cards.merchant_url,
    cards.merchant_domain, cards.rating, cards.review_count, cards.matched_id, cards.role
)
WITH
    rivals AS
    (
        SELECT
            brand_id,
            arraySort(groupArray((name, id))) AS by_name
        FROM dimension_competitors FINAL
        GROUP BY brand_id
    ),
    brands AS
    (
        SELECT
            row_number() OVER (ORDER BY brand.slug) - 1 AS brand,
            brand.organization_id AS organization_id,
            brand.id AS brand_id,
            brand.name AS brand_name,
            arrayMap(r -> r.2, rivals.by_name) AS rival_ids,
            arrayMap(r -> r.1, rivals.by_name) AS rival_names
        FROM dimension_brands AS brand FINAL
        INNER JOIN rivals ON rivals.brand_id = brand.id
    ),
    prompts AS
    (
        SELECT
            brands.brand AS brand,
            brands.organization_id AS organization_id,
            brands.brand_id AS brand_id,
            brands.brand_name AS brand_name,
            brands.rival_ids AS rival_ids,
            brands.rival_names AS rival_names,
            row_number() OVER (PARTITION BY prompt.brand_id ORDER BY prompt.text) - 1 AS prompt,
            prompt.id AS prompt_id,
            prompt.topic_id AS topic_id,
            prompt.text AS prompt_text
        FROM dimension_prompts AS prompt FINAL
        INNER JOIN brands ON brands.brand_id = prompt.brand_id
    ),
    runs AS
    (
        -- 25 prompts on 4 platforms are 100 askings a week, of which one day has every seventh.
        SELECT
            number % {samples:UInt32} + 1 AS sample,
            intDiv(number, {samples:UInt32}) AS run,
            intDiv(run, 15) % {brands:UInt32} AS brand,
            {first_day:Date} + intDiv(run, 15 * {brands:UInt32}) AS day,
            (toRelativeDayNum(day) + brand) % 7 + 7 * (run % 15) AS asking,
            intDiv(asking, 4) AS prompt,
            asking % 4 AS place
        FROM numbers(15 * {brands:UInt64} * {days:UInt64} * {samples:UInt64})
        WHERE asking < 100
        UNION ALL
        -- The brand after those is asked once a day on three platforms, as verdicts on changes need it.
        SELECT
            1                                       AS sample,
            number                                  AS run,
            {brands:UInt32}                         AS brand,
            {first_day:Date} + intDiv(number, 75)   AS day,
            toUInt16(number % 75)                   AS asking,
            intDiv(asking, 3)                       AS prompt,
            asking % 3                              AS place
        FROM numbers(75 * {days:UInt64})
    )
SELECT
    organization_id,
    brand_id,
    day,
    -- A UUID of the log's layout: 48 bits of time, the rest from the run's identity.
    reinterpretAsUUID(
        toUInt128(bitOr(bitShiftLeft(toUInt64(toUnixTimestamp64Milli(answered_at)), 16), toUInt64(0x7000 + dice % 0x1000)))
        + bitShiftLeft(toUInt128(bitOr(bitShiftLeft(toUInt64(2), 62), bitShiftRight(dice, 2))), 64)) AS id,
    1,
    1,
    1,
    'bench',
    answered_at,
    platform,
    model,
    if(given_up, '', concat(model, if(day < toDate('2026-01-01') + cityHash64(brand, model) % 180, '-2025', '-2026'))),
    ['us', 'de'][prompt % 2 + 1],
    'en',
    'api',
    sample,
    prompt_id,
    topic_id,
    prompt_text,
    branded,
    given_up,
    if(given_up, 'timeout', ''),
    1,
    4000,
    if(given_up, 'failed', 'complete'),
    if(given_up, '', 'The answer, of which the bench needs only the reading.'),
    search_queries,
    brand_name,
    mentions[1],
    positions[1],
    own_citations,
    least(10 * mentions[1], 40) + least(15 * own_citations, 30) + if(mentions[1] > 0, 7, 0),
    labels[1],
    if(mentions[1] > 0, 'vader', ''),
    rival_ids,
    rival_names,
    arrayPopFront(mentions),
    arrayPopFront(positions),
    rival_citations,
    arrayMap((m, c) -> least(10 * m, 40) + least(15 * c, 30) + if(m > 0, 7, 0), arrayPopFront(mentions), rival_citations),
    arrayPopFront(labels),
    arrayMap((u, host) -> concat('https://', host, '/guides/', toString(u)), urls, hosts),
    arrayMap(u -> concat('Guide ', toString(u), ', tested and compared'), urls),
    arrayMap(u -> cityHash64(dice, u) % 10 > 0, urls),
    hosts,
    arrayMap(host -> replaceOne(host, 'blog.', ''), hosts),
    arrayMap(owner -> if(owner < 6, 'editorial', ['editorial', 'forum', 'social', 'review', 'institutional', 'editorial'][owner % 6 + 1]), owners),
    arrayMap(owner -> owner = 0, owners),
    arrayMap(owner -> if(owner BETWEEN 1 AND 5, rival_ids[owner], toUUID('00000000-0000-0000-0000-000000000000')), owners),
    range(1, cards + 1),
    arrayMap(c -> concat('Product ', toString(cityHash64(brand, prompt, c) % 40)), range(cards)),
    arrayMap(c -> if(c = 0, brand_name, rival_names[c % 5 + 1]), range(cards)),
    arrayMap(c -> toDecimal64(20 + cityHash64(brand, prompt, c) % 400, 4), range(cards)),
    arrayMap(c -> 'USD', range(cards)),
    arrayMap(c -> 'https://images.example/product.jpg', range(cards)),
    arrayMap(c -> concat('Shop ', toString(c)), range(cards)),
    arrayMap(c -> concat('https://shop', toString(c), '.example/p/', toString(prompt)), range(cards)),
    arrayMap(c -> concat('shop', toString(c), '.example'), range(cards)),
    arrayMap(c -> 4.5, range(cards)),
    arrayMap(c -> toInt64(120), range(cards)),
    arrayMap(c -> if(c = 0, brand_id, rival_ids[c % 5 + 1]), range(cards)),
    arrayMap(c -> if(c = 0, 'own', 'competitor'), range(cards))
FROM
(
    SELECT
        prompts.organization_id AS organization_id,
        prompts.brand_id AS brand_id,
        prompts.brand AS brand,
        prompts.brand_name AS brand_name,
        prompts.rival_ids AS rival_ids,
        prompts.rival_names AS rival_names,
        prompts.prompt AS prompt,
        prompts.prompt_id AS prompt_id,
        prompts.topic_id AS topic_id,
        prompts.prompt_text AS prompt_text,
        runs.day AS day,
        runs.sample AS sample,
        ['chatgpt', 'perplexity', 'gemini', if(prompt % 8 = 0, 'google-shopping', 'google')][runs.place + 1] AS platform,
        ['gpt-5.1', 'sonar-pro', 'gemini-3-pro', 'ai-mode'][runs.place + 1] AS model,
        cityHash64(brand, prompt, runs.place, day, sample) AS dice,
        toDateTime64(day, 3, 'UTC') + toIntervalMillisecond(dice % 86400000) AS answered_at,
        prompt % 5 = 0 AS branded,
        cityHash64(brand, platform, toMonday(day)) % 100 = 0 OR dice % 50 = 0 AS given_up,
        -- The brand and its rivals: how often this answer names each, as some prompts nearly always do and others hardly.
        arrayMap(e -> NOT given_up AND cityHash64(dice, e) % 1000 < cityHash64(brand, prompt, e) % 1000, range(1 + length(rival_ids))) AS named,
        arrayMap((e, n) -> n * (1 + cityHash64(e, dice) % 4), range(length(named)), named) AS mentions,
        -- Three in five answers that name an entity speak well of it, one in ten has no label.
        arrayMap((e, m) -> if(m = 0, '', multiIf(cityHash64(dice, e, 'label') % 10 < 6, 'positive', cityHash64(dice, e, 'label') % 10 = 9, 'unknown',
            cityHash64(dice, e, 'label') % 10 < 8, 'neutral', 'negative')), range(length(mentions)), mentions) AS labels,
        -- Two of the four platforms search, in four of five answers, for one to three of a prompt's eight queries, or for a rare one.
        arrayMap(
            q -> concat(
                prompt_text, ' ', ['review', 'price', 'compared', 'test', 'for a small budget', 'alternatives', 'guide', '2026'][cityHash64(dice, q, 'query') % 8 + 1],
                if(cityHash64(dice, q, 'rare') % 5 = 0, concat(' of kind ', toString(cityHash64(dice, q) % 200)), '')),
            range(if(given_up OR runs.place > 1 OR dice % 5 = 0, 0, 1 + dice % 3))) AS search_queries,
        arrayMap((e, n) -> n * (1 + cityHash64(dice, e, 'place') % 1000000), range(length(named)), named) AS starts,
        arrayMap(s -> if(s = 0, 0, 1 + arrayCount(other -> other > 0 AND other < s, starts)), starts) AS positions,
        -- Two to four of a brand's 400 URLs, a few of them far oftener than the rest.
        arrayMap(c -> toUInt64(100 * c + 100 * pow(cityHash64(dice, c, 'url') % 1000 / 1000, 2)), range(if(given_up, 0, 2 + dice % 3))) AS urls,
        -- 0 is the brand, 1 to 5 its rivals, the rest other people.
        arrayMap(u -> cityHash64(brand, u) % 40, urls) AS owners,
        arrayMap((u, owner) -> multiIf(
            owner = 0, concat('brand-', leftPad(toString(brand), 3, '0'), '.example'),
            owner < 6, concat('rival-', toString(owner), '-of-', leftPad(toString(brand), 3, '0'), '.example'),
            concat(if(u % 3 = 0, 'blog.', ''), 'site-', toString((owner * 11 + brand) % 600), '.example')), urls, owners) AS hosts,
        arrayCount(owner -> owner = 0, owners) AS own_citations,
        arrayMap(r -> arrayCount(owner -> owner = r, owners), range(1, length(named))) AS rival_citations,
        if(endsWith(platform, '-shopping') AND NOT given_up, 3 + dice % 4, 0) AS cards
    FROM runs
    INNER JOIN prompts ON prompts.brand = runs.brand AND prompts.prompt = runs.prompt
)
