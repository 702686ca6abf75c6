-- Months whose raw facts expire. A month is added before its landing rows may expire, and never removed: its rollups
-- stay unchanged, a late record of it becomes a dead letter, and an import refuses it.
CREATE TABLE private.frozen_months (
    topic text NOT NULL CONSTRAINT frozen_months_topic_is_known CHECK (topic IN ('answers', 'visits', 'crawls')),
    month date NOT NULL CONSTRAINT frozen_months_month_is_first_day CHECK (extract(day FROM month) = 1),
    at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT frozen_months_pkey PRIMARY KEY (topic, month)
);
COMMENT ON TABLE private.frozen_months IS 'Months whose raw facts expire, by topic without its prefix.';
COMMENT ON COLUMN private.frozen_months.month IS 'Its first day, UTC.';

CALL private.protect('private.frozen_months', 'SELECT, INSERT');
