-- listen_outbox: has the session notified of changes.
LISTEN answerscope_outbox
