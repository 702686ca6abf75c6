-- tracking_workers: the platforms whose keys are in the environment of each process that works on tracking jobs.
SELECT platforms
FROM private.tracking_workers
WHERE expires_at > clock_timestamp()
