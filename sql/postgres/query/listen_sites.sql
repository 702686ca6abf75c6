-- listen_sites: asks to be told of changes of brands' domains.
LISTEN answerscope_sites
