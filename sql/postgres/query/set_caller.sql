-- set_caller: makes $1 the role, and $2 the claims, of this transaction.
SELECT
    set_config('role', $1, true),
    set_config('request.jwt.claims', $2, true)
