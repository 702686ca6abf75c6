-- listen_outbox: asks to be told of changes.
LISTEN answerscope_outbox
