-- tracking_workers: the platforms of each registered process.
SELECT platforms
FROM private.tracking_workers
WHERE expires_at > clock_timestamp()
