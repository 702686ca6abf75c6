-- answerscope_address: the one spelling of a path, or of a host and path, by RFC 3986 6.2.2, as event.Path of Go has it but for slashes at
-- the end: escapes have capital digits, unreserved characters none, what may not stand in an address is escaped (\xHH as %HH), dot segments
-- are resolved. Rows of older releases have paths as they were sent. A text before the first slash stays.
(address) ->
    arrayStringConcat(
        arrayFold(
            (path, segment) -> if(segment IN ('.', '..'),
                arrayResize(path, greatest(length(path) - (segment = '..'), 1)),
                arrayPushBack(path, segment)),
            splitByChar('/', arrayStringConcat(
                arrayMap(
                    part -> if(match(part, '^[!#$&-;=?-[\\]_a-z{}~]'), part, encodeURLComponent(decodeURLComponent(replaceOne(part, '\\x', '%')))),
                    extractAll(address, '[!#$&-;=?-[\\]_a-z{}~]+|(?:%|\\\\x)[[:xdigit:]]{2}|[%\\\\]|[^!#$&-;=?-[\\]_a-z{}~%\\\\]+')))),
            emptyArrayString()),
        '/')
