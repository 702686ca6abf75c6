package extract

import (
	"slices"
	"sort"
	"strings"
)

// A passage is a text that is searched for names.
type passage struct {
	*rules

	text      string
	folded    []byte
	capitals  []int32 // bytes of folded that were capitals
	breaks    []int32 // bytes of folded beside which, or where, a line ended
	sentences []sentence
}

// passageOf folds text and, if cut is set, cuts it into sentences.
func (r *rules) passageOf(text string, cut bool) passage {
	p := passage{rules: r, text: text}
	f := folder{letters: r.alphabet(), out: make([]byte, 0, len(text)+len(text)/8), notes: r.asRead}
	if r.asRead {
		f.capitals, f.breaks = make([]int32, 0, len(text)/16), make([]int32, 0, len(text)/64)
	}
	if cut {
		p.sentences = make([]sentence, 0, 1+len(text)/64)
	}
	for text != "" {
		end := len(text)
		if cut {
			end = sentenceEnd(text)
			p.sentences = append(p.sentences, sentence{text[:end], len(f.out)})
		}
		f.add(text[:end])
		text = text[end:]
	}
	p.folded, p.capitals, p.breaks = f.out, f.capitals, f.breaks
	return p
}

// isLower reports whether the bytes from at to end have no capital, and their sentence has one.
func (p *passage) isLower(at, end int) bool {
	if among(p.capitals, at, end) || p.isInAddress(at, end) {
		return false
	}
	if p.sentences == nil && p.text != "" {
		p.sentences = p.passageOf(p.text, true).sentences
	}
	next := sort.Search(len(p.sentences), func(i int) bool { return p.sentences[i].folded > at })
	from, to := p.sentences[next-1].folded, len(p.folded)
	if next < len(p.sentences) {
		to = p.sentences[next].folded
	}
	return among(p.capitals, from, to)
}

// isInAddress reports whether the bytes from at to end are part of an address or a handle, which have no capitals.
func (p *passage) isInAddress(at, end int) bool {
	return at > 0 && strings.IndexByte("@/", p.folded[at-1]) >= 0 ||
		end+1 < len(p.folded) && p.folded[end] == '.' && asciiWord[p.folded[end+1]] && !among(p.capitals, end+1, end+2)
}

// isOneLine reports whether nothing but blanks, emphasis or a hyphen stands between two names, on one line.
func (p *passage) isOneLine(end, at int) bool {
	for _, c := range p.folded[end:at] {
		if c != ' ' && c != '*' && c != '_' && (c != '-' || at-end > 1) {
			return false
		}
	}
	return !among(p.breaks, end, at+1)
}

// among reports whether a sorted list has a number from from on and below to.
func among(sorted []int32, from, to int) bool {
	i, _ := slices.BinarySearch(sorted, int32(from))
	return i < len(sorted) && sorted[i] < int32(to)
}
