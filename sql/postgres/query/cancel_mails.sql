-- cancel_mails: cancels all mails that are pending.
UPDATE private.mails
SET
    status = 'cancelled',
    sealed = NULL,
    error = $1
WHERE status = 'pending'
