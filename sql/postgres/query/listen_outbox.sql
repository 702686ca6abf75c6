-- listen_outbox: notifies the session of changes.
LISTEN answerscope_outbox
