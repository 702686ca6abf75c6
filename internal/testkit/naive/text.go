package naive

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

var (
	definition = regexp.MustCompile(`(?m)^[\s\pZ]*\[[^\]\n]+\]:[ \t]*http.*$`)
	target     = regexp.MustCompile(`\]\([\s\pZ]*(?:<[^<>\n]*>|(?:[^\s\pZ()]|\([^\s\pZ()]*\))*)(?:[\s\pZ]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[\s\pZ]*\)`)
	address    = regexp.MustCompile(`https?://[A-Za-z0-9\-._~:/?#@!$&'*+,;=%]*`)
	spaces     = regexp.MustCompile(`\s+`)
)

// prose is the text in which names are looked for: without code fences, link reference definitions, targets of links,
// and URLs.
func prose(text string) string {
	text = unfenced(text)
	text = definition.ReplaceAllString(text, " ")
	text = target.ReplaceAllString(text, "] ")
	return address.ReplaceAllString(text, " ")
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

// fold makes texts and names comparable.
func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("™℠¹²³", r) || r >= 0x2070 && r <= 0x209c || r >= 0x2460 && r <= 0x24ff {
			return ' '
		}
		return r
	}, s)
	s = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
	s = unmarked(s)
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '’' || r == '‘' || r == 'ʼ':
			return '\''
		case r >= 0x2010 && r <= 0x2013 || r == 0x2212:
			return '-'
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, s)
	return spaces.ReplaceAllString(s, " ")
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
