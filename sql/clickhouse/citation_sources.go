package clickhouse

import "github.com/answerscope/answerscope/sql/clickhouse/formula"

// CitationSources returns a row for all citations, then the domains and the URLs with the most citations, each list by
// citations descending, then by name.
var CitationSources = Figures[CitationSourceFilter, citationSums, CitationSource]{
	sumsOf[CitationSourceFilter, citationSums]("citation_sources"), citationRows[CitationSourceFilter],
}

// AnswerCitations returns the same of some prompts' answers, or of pages that were only consulted.
var AnswerCitations = Figures[CitationListFilter, citationSums, CitationSource]{
	sumsOf[CitationListFilter, citationSums]("answer_citations"), citationRows[CitationListFilter],
}

// The facets of a CitationSource.
const (
	AllCitations   = "total"
	CitationDomain = "domain"
	CitationURL    = "url"
)

// CitationSource sums the citations in the answers of a window: all, of one domain, or of one URL. A percentage is
// rounded to one decimal, nil if its divisor is 0.
type CitationSource struct {
	Facet              string     `ch:"facet"`
	Domain             string     `ch:"domain"`      // registrable; of the domain or URL
	URL                string     `ch:"url"`         // of the URL
	Title              string     `ch:"title"`       // of the URL; "": none
	SourceType         string     `ch:"source_type"` // of the domain or URL: the first among its citations
	Models             []string   `ch:"models"`      // requested models of the citing answers, ascending
	Answers            int64      `ch:"answers"`     // all of the window
	Citations          int64      `ch:"citations"`
	CitingAnswers      int64      `ch:"citing_answers"`
	UsagePct           *float64   `ch:"usage_pct"`            // citing answers, of Answers
	CitationsPerAnswer *float64   `ch:"citations_per_answer"` // of Answers
	Domains            uint64     `ch:"domains"`              // of all citations, on every row
	URLs               uint64     `ch:"urls"`                 // of all citations, on every row
	SourceTypes        []string   `ch:"source_types"`         // of all citations: the seven, in their order
	DomainsByType      []uint64   `ch:"domains_by_type"`      // domains of each of SourceTypes
	PctByType          []*float64 `ch:"pct_by_type"`          // of Domains
	CitationsByType    []int64    `ch:"citations_by_type"`
	CitationsPctByType []*float64 `ch:"citations_pct_by_type"` // of Citations
}

// citationSums has the sums of a row; some fields do not apply to its facet.
type citationSums struct {
	Level        uint64 `ch:"level"`    // as in citation_sources.sql
	NthType      uint64 `ch:"nth_type"` // of SourceTypes, from 1
	CitingDomain int64  `ch:"citing_domain"`
	CitationSource
}

func citationRows[P any](_ P, sums []citationSums) []CitationSource {
	return mapSlice(sums, citationSums.row)
}

func (s citationSums) row() CitationSource {
	row := s.CitationSource
	row.SourceTypes = SourceTypes
	if s.Level != 3 {
		row.SourceType = SourceTypes[s.NthType-1]
		row.SourceTypes, row.DomainsByType, row.CitationsByType = []string{}, []uint64{}, []int64{}
	}
	switch s.Level {
	case 1:
		row.Facet, row.CitingAnswers = CitationURL, s.Citations
	case 2:
		row.Facet, row.CitingAnswers = CitationDomain, s.CitingDomain
	case 3:
		row.Facet, row.Domain = AllCitations, ""
	}
	if s.Level != 1 {
		row.Title = ""
	}
	row.UsagePct = formula.Round(formula.Percent(row.CitingAnswers, row.Answers), 1)
	row.CitationsPerAnswer = formula.Round(formula.Ratio(float64(row.Citations), float64(row.Answers)), 1)
	row.PctByType = mapSlice(row.DomainsByType, func(n uint64) *float64 {
		return formula.Round(formula.Percent(n, row.Domains), 1)
	})
	row.CitationsPctByType = mapSlice(row.CitationsByType, func(n int64) *float64 {
		return formula.Round(formula.Percent(n, row.Citations), 1)
	})
	return row
}
