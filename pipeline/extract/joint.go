package extract

import (
	"strings"
	"unicode/utf8"
)

// endAt returns the end of a name that begins at byte at of folded text, and whether it is written as it is; -1: it
// does not begin there.
func (n *name) endAt(text []byte, at int) (end int, exact bool) {
	end = at + len(n.text)
	if end <= len(text) && string(text[at:end]) == n.text {
		return end, true
	}
	word := at + n.joint
	if word == at || word > len(text) || string(text[at:word]) != n.text[:n.joint] {
		return -1, false
	}
	return n.fits(text, at), false
}

// fits returns where a name ends whose first word begins at byte at of folded text; -1: it does not fit. The joints of
// its words may be others: De'Longhi is De Longhi and De-Longhi, J.Crew is J. Crew, H&M is H & M.
func (n *name) fits(text []byte, at int) (end int) {
	name, i := n.text, n.joint
	for at += i; i < len(name); {
		j := i
		for j < len(name) && isJoint[name[j]] {
			j++
		}
		if j == i || j == len(name) {
			if at == len(text) || text[at] != name[i] {
				return -1
			}
			i, at = i+1, at+1
			continue
		}
		next := at
		for next < len(text) && next-at <= longestJoint && isJoint[text[next]] {
			next++
		}
		if !isSameJoint(name[:i], name[i:j], text[at:next], name[j:]) {
			return -1
		}
		i, at = j, next
	}
	return at
}

// isSameJoint reports whether two joints are alike between two words: they differ in blanks alone, or each is a blank,
// a hyphen or an apostrophe, or one lacks the full stop of an abbreviation. The s of a genitive follows nothing but an
// apostrophe.
func isSameJoint(before, joint string, other []byte, after string) bool {
	if len(other) == 0 {
		return false
	}
	signs, others := strings.ReplaceAll(joint, " ", ""), strings.ReplaceAll(string(other), " ", "")
	switch {
	case signs == others:
		return true
	case after[0] == 's' && (len(after) == 1 || isJoint[after[1]]):
		return false
	case strings.Trim(signs+others, ".") == "":
		word := before[1+strings.LastIndexAny(before, joints):]
		return utf8.RuneCountInString(word) <= longestAbbreviation
	}
	return len(other) == 1 && len(joint) == 1 && signs != "&" && others != "&" && signs != "." && others != "."
}

const (
	joints              = " -'.&"
	longestJoint        = 3
	longestAbbreviation = 2
)

var isJoint = func() (set [256]bool) {
	for i := range len(joints) {
		set[joints[i]] = true
	}
	return set
}()
