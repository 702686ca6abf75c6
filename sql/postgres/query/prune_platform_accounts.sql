-- prune_platform_accounts: deletes what was learnt of accounts that no process has asked since an instant: each lease
-- sets closed_until to at least its own time.
DELETE FROM private.platform_accounts
WHERE closed_until < $1::timestamptz
