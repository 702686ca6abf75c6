-- answerscope_cited_page: the page of a citation's URL, which has one spelling already: it is answerscope_page at a tenth of its plan.
(url) ->
    trimRight(extract(url, '^https?://(?:www[.])?([^?]*)'), '/')
