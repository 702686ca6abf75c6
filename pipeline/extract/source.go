package extract

import (
	"embed"
	"encoding/csv"
	"fmt"
	"strings"
)

// The lists name hosts by kind, each row with its reason. A row covers its host and all hosts under it, and nothing
// that merely looks like it.
//
//go:embed lists/*.csv
var lists embed.FS

// sourceOrder is the order in which the types are tried.
var sourceOrder = []SourceType{Forum, Social, Review, Institutional, Editorial}

// listed has the rank in sourceOrder of every host of the lists.
var listed = func() map[string]int {
	ranks := map[string]int{}
	for rank, kind := range sourceOrder[:len(sourceOrder)-1] {
		rows, err := readList(kind)
		if err != nil {
			panic(err) // the lists are part of the program
		}
		for _, row := range rows {
			if _, twice := ranks[row.host]; twice {
				panic(fmt.Sprintf("host %s is on two lists or twice on one", row.host))
			}
			ranks[row.host] = rank
		}
	}
	return ranks
}()

// A listing is one row of a list.
type listing struct{ host, reason string }

// readList reads the rows of a list, below their header.
func readList(kind SourceType) ([]listing, error) {
	name := "lists/" + string(kind) + ".csv"
	text, err := lists.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read list %s: %w", kind, err)
	}
	records, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("parse list %s: %w", kind, err)
	}
	var rows []listing
	for _, record := range records[1:] {
		rows = append(rows, listing{record[0], record[1]})
	}
	return rows, nil
}

// sourceType classifies a host.
func sourceType(host string) SourceType {
	best := len(sourceOrder) - 1
	for suffix := range suffixes(host) {
		if rank, ok := listed[suffix]; ok && rank < best {
			best = rank
		}
	}
	if sourceOrder[best] == Editorial && isInstitutional(host) {
		return Institutional
	}
	return sourceOrder[best]
}

// isInstitutional reports whether only governments, schools, armed forces and treaty organizations get such a host:
// .gov .edu .mil .int, and under a country's domain .ac .edu .gov .mil, such as .ac.jp. Other second levels of
// countries, such as .go.jp and .gob.mx, mean something else elsewhere, so the list names each.
func isInstitutional(host string) bool {
	rest, top, ok := cutLast(host)
	switch top {
	case "gov", "edu", "mil", "int":
		return ok
	}
	if len(top) != 2 {
		return false
	}
	_, second, _ := cutLast(rest)
	switch second {
	case "ac", "edu", "gov", "mil":
		return true
	}
	return false
}

// cutLast cuts the last label off a host.
func cutLast(host string) (before, label string, ok bool) {
	if i := strings.LastIndexByte(host, '.'); i >= 0 {
		return host[:i], host[i+1:], true
	}
	return "", host, false
}

// suffixes yields host and every host that it is under, the longest first.
func suffixes(host string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for yield(host) {
			_, parent, ok := strings.Cut(host, ".")
			if !ok {
				return
			}
			host = parent
		}
	}
}
