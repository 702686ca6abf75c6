-- answerscope_words: the words of a text in their order, without regard to letter case and to accents on Latin, Greek and Cyrillic letters.
-- A word has letters and digits, joined by single signs as in at&t, t-fal and example.org.
-- ASCII, which most texts are, has a branch of its own: classes of all scripts take the engine five times as long.
(text) ->
    if(
        isASCII(text),
        extractAll(lower(text), '[a-z0-9]+(?:[''&+.-][a-z0-9]+)*'),
        extractAll(
            normalizeUTF8NFC(
                replaceRegexpAll(
                    translateUTF8(lowerUTF8(normalizeUTF8NFKD(text)), '’‘‐–−', '''''---'),
                    '([\\p{Latin}\\p{Greek}\\p{Cyrillic}])\\p{Mn}+',
                    '\\1')),
            '[\\p{L}\\p{M}\\p{N}]+(?:[''&+.-][\\p{L}\\p{M}\\p{N}]+)*'))
