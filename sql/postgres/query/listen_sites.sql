-- listen_sites: notifies the session of changes of brands' domains.
LISTEN answerscope_sites
