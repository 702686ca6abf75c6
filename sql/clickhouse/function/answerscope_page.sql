-- answerscope_page: the page of an address with or without scheme, in a form that citations, crawls and visits share: host and path, without
-- a leading www., query and trailing slashes.
(address) ->
    extract(address, '^(?:https?://)?(?:www[.])?([^?]*?)/*(?:[?]|$)')
