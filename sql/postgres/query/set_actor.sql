-- set_actor: makes $1 the user that the audit log names for this transaction's changes.
SELECT set_config('request.jwt.claims', jsonb_build_object('sub', $1::text)::text, true)
