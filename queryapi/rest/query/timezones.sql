-- timezones: the names that SET timezone takes.
SELECT name FROM pg_catalog.pg_timezone_names
