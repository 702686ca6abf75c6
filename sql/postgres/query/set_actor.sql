-- set_actor: makes $1 the user to whom the audit log ascribes what this transaction changes.
SELECT set_config('request.jwt.claims', jsonb_build_object('sub', $1::text)::text, true)
