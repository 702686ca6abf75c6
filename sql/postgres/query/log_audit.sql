-- log_audit: adds a line to the audit log: the action $1 in the organization $2, the nil UUID for none, on the subject $3.
SELECT private.log_audit($1::text, nullif($2::uuid, '00000000-0000-0000-0000-000000000000'), $3::text)
