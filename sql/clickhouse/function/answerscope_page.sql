-- answerscope_page: the page of an address with or without scheme, in a form that citations, crawls and visits share: host and path in one
-- spelling (answerscope_address), without a leading www., query and trailing slashes.
(address) ->
    trimRight(answerscope_address(extract(address, '^(?:https?://)?(?:www[.])?([^?]*)')), '/')
