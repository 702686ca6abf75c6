-- freeze_months: freezes every month of a topic before $2, from the first month that a record may have.
INSERT INTO private.frozen_months (topic, month)
SELECT $1, month::date
FROM generate_series(timestamp '2020-01-01', $2::date - interval '1 month', interval '1 month') AS month
ON CONFLICT DO NOTHING
