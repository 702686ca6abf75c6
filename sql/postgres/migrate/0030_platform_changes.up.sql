-- Days on which a platform began to answer otherwise, as the canary panel found them. Every organization's verdicts
-- leave out the platform's runs where such a day is in what they compare.
CREATE TABLE private.platform_changes (
    platform  text CONSTRAINT platform_changes_platform_length CHECK (octet_length(platform) BETWEEN 1 AND 200),
    day       date,
    e_value   float8 NOT NULL,
    judged_on date NOT NULL,
    CONSTRAINT platform_changes_pkey PRIMARY KEY (platform, day)
);
COMMENT ON TABLE private.platform_changes IS 'Days on which a platform changed silently, found by the canary panel.';
COMMENT ON COLUMN private.platform_changes.day IS 'The first UTC day of the new answers. Later nights may find a day beside it, which is added.';
COMMENT ON COLUMN private.platform_changes.e_value IS 'The largest so far.';
COMMENT ON COLUMN private.platform_changes.judged_on IS 'The last compared day of the night that found it last.';

CALL private.protect('private.platform_changes', 'SELECT, INSERT, UPDATE');
