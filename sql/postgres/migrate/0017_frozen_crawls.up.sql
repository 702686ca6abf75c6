-- Crawls expire by the month too.
ALTER TABLE private.frozen_months DROP CONSTRAINT frozen_months_topic_is_known;
ALTER TABLE private.frozen_months ADD CONSTRAINT frozen_months_topic_is_known CHECK (topic IN ('answers', 'visits', 'crawls'));
