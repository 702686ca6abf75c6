-- The three views are gone: the code makes their questions from the name of a table. Comments of other views changed
-- with them. An older release sees a newer schema by this number, and leaves the views in place.
DROP VIEW IF EXISTS exported_months;

DROP VIEW IF EXISTS landed_visits;

DROP VIEW IF EXISTS landed_crawls;
