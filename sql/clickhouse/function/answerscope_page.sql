-- answerscope_page: the page of an address, with or without scheme, as what cites, crawls and visits it has in common: host and path, without
-- a leading www., query and trailing slashes.
(address) ->
    extract(address, '^(?:https?://)?(?:www[.])?([^?]*?)/*(?:[?]|$)')
