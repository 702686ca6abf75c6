-- log_audit: adds a line to the audit log: the action $1 in the organization $2 on the subject $3.
SELECT private.log_audit($1::text, $2::uuid, $3::text)
