-- answerscope_path: the one spelling of a path (answerscope_address), without slashes at the end but for the root's one.
(path) ->
    replaceRegexpOne(concat(answerscope_address(path), '/'), '(.)/+$', '\\1')
