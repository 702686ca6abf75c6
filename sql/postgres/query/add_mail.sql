-- add_mail: queues a mail of the template $2 to $3, with its data encrypted.
INSERT INTO private.mails (organization_id, template, recipient, sealed)
VALUES ($1, $2, $3::text, $4)
