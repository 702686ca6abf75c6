-- What people edit, mirrored from Postgres within a second: names, liveness and
-- the rows that have no facts yet. The newest version of a row wins.
CREATE TABLE IF NOT EXISTS dimension_brands
(
    organization_id UUID,
    id              UUID,
    name            String,
    slug            String,
    aliases         Array(String),
    domains         Array(String),
    industry        String,
    region          String,
    language        String,
    revision        Int64,
    is_active       Bool,
    version         UInt64,
    deleted         Bool
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS dimension_competitors
(
    organization_id UUID,
    brand_id        UUID,
    id              UUID,
    name            String,
    aliases         Array(String),
    domains         Array(String),
    version         UInt64,
    deleted         Bool
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS dimension_prompts
(
    organization_id UUID,
    brand_id        UUID,
    id              UUID,
    topic_id        UUID COMMENT 'nil: none',
    text            String,
    is_branded      Nullable(Bool),
    is_active       Bool,
    version         UInt64,
    deleted         Bool
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS dimension_topics
(
    organization_id UUID,
    brand_id        UUID,
    id              UUID,
    name            String,
    is_active       Bool,
    version         UInt64,
    deleted         Bool
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
