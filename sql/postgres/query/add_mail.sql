-- add_mail: queues a mail of the template $2 to $3, with what it tells encrypted.
INSERT INTO private.mails (organization_id, template, recipient, sealed)
VALUES ($1, $2, $3::text, $4)
