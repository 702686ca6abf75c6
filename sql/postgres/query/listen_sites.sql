-- listen_sites: has the session notified of changes of brands' domains.
LISTEN answerscope_sites
