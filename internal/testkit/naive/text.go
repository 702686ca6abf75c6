package naive

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

var (
	definition = regexp.MustCompile(`(?m)^[\s\pZ]*\[[^\]\n]+\]:[ \t]*http.*$`)
	target     = regexp.MustCompile(`\]\([\s\pZ]*(?:<[^<>\n]*>|(?:[^\s\pZ()]|\([^\s\pZ()]*\))*)(?:[\s\pZ]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[\s\pZ]*\)`)
	address    = regexp.MustCompile(`https?://[A-Za-z0-9\-._~:/?#@!$&'*+,;=%]*`)
	spaces     = regexp.MustCompile(`\s+`)
)

// prose is the text in which names are looked for: as it is seen, without code fences, link reference definitions,
// targets of links, and URLs.
func prose(text string) string {
	text = unfenced(text)
	text = definition.ReplaceAllString(text, " ")
	text = target.ReplaceAllString(text, "] ")
	return address.ReplaceAllString(seen(text), " ")
}

func unfenced(text string) string {
	var kept []string
	fence := "" // the run of characters that opened the fence we are in
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimFunc(line, unicode.IsSpace)
		switch {
		case fence != "":
			if strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "" {
				fence = ""
			}
		case opening(bare) != "":
			fence = opening(bare)
			kept = append(kept, " ")
		default:
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

func opening(line string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, c)
		run := line[:len(line)-len(rest)]
		if len(run) >= 3 && (c == "~" || !strings.Contains(rest, c)) {
			return run
		}
	}
	return ""
}

var (
	escaped   = regexp.MustCompile("^\\\\[!-/:-@[-`{-~]")
	reference = regexp.MustCompile(`^&[^;]{0,38};`)
	typed     = regexp.MustCompile(`^(?i)\((?:r|tm|sm|c)\)`) // signs of trade
	unspaced  = regexp.MustCompile(`^\x{200b}\p{Lu}`)
)

// seen is a text as a reader sees it.
func seen(text string) string {
	var out strings.Builder
	before := ' '
	for at := 0; at < len(text); {
		rest := text[at:]
		_, size := utf8.DecodeRuneInString(rest)
		part := rest[:size]
		switch {
		case escaped.MatchString(rest):
			size, part = 2, rest[1:2]
		case typed.MatchString(rest) && inWord(before):
			size, part = strings.IndexByte(rest, ')')+1, " "
		case unspaced.MatchString(rest) && inWord(before) && !unicode.IsUpper(before):
			part = " "
		default:
			if name := reference.FindString(rest); utf8.RuneCountInString(html.UnescapeString(name)) == 1 {
				size, part = len(name), html.UnescapeString(name)
			}
		}
		out.WriteString(part)
		at += size
		before, _ = utf8.DecodeLastRuneInString(text[:at])
	}
	return out.String()
}

// fold makes texts and names comparable.
func fold(s string) string { return spaces.ReplaceAllString(folded(s), " ") }

// folded leaves runs of spaces.
func folded(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\u034f' || unicode.In(r, unicode.Cf, unicode.Variation_Selector) &&
			!unicode.Is(unicode.Prepended_Concatenation_Mark, r):
			return -1
		case r == '´':
			return '\''
		case strings.ContainsRune("™℠®©🅪🅫🅬¹²³", r) || r >= 0x2070 && r <= 0x209c || r >= 0x2460 && r <= 0x24ff:
			return ' '
		}
		return r
	}, s)
	s = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
	s = unmarked(s)
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("’‘ʼ`′‛ʹʻʽˈ׳", r):
			return '\''
		case r >= 0x2010 && r <= 0x2013 || r == 0x2212:
			return '-'
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, s)
}

// unmarked drops the non-spacing marks after Latin, Greek and Cyrillic letters.
func unmarked(s string) string {
	var kept strings.Builder
	western := false
	for _, r := range norm.NFD.String(s) {
		if unicode.Is(unicode.Mn, r) {
			if !western {
				kept.WriteRune(r)
			}
			continue
		}
		western = unicode.IsLetter(r) && unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
		kept.WriteRune(r)
	}
	return norm.NFC.String(kept.String())
}
