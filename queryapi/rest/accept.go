package rest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// A mediaType is the form of a body.
type mediaType string

const (
	mediaJSON       mediaType = "application/json"
	mediaStripped   mediaType = "application/vnd.pgrst.array+json;nulls=stripped"
	mediaObject     mediaType = "application/vnd.pgrst.object+json"
	mediaBareObject mediaType = "application/vnd.pgrst.object+json;nulls=stripped"
	mediaCSV        mediaType = "text/csv"
	mediaText       mediaType = "text/plain"
	mediaXML        mediaType = "text/xml"
	mediaBytes      mediaType = "application/octet-stream"
	mediaForm       mediaType = "application/x-www-form-urlencoded"
	mediaAny        mediaType = "*/*"
)

// parseMedia reads one media type with its parameters.
func parseMedia(text string) mediaType {
	name, params, _ := strings.Cut(strings.ToLower(text), ";")
	switch name {
	case "":
		return mediaAny
	case "application/vnd.pgrst.object", "application/vnd.pgrst.object+json":
		if params == "nulls=stripped" {
			return mediaBareObject
		}
		return mediaObject
	case "application/vnd.pgrst.array", "application/vnd.pgrst.array+json":
		if params == "nulls=stripped" {
			return mediaStripped
		}
		return mediaJSON
	}
	return mediaType(name)
}

// single is whether a body is one row.
func (m mediaType) single() bool { return m == mediaObject || m == mediaBareObject }

func (m mediaType) contentType() string { return string(m) + "; charset=utf-8" }

// parseAccept reads the header: media types with the highest q first, and among those the most specific ones.
func parseAccept(header string) []mediaType {
	if header == "" {
		return []mediaType{mediaAny}
	}
	type weighted struct {
		media    mediaType
		q        float64
		specific int
	}
	var list []weighted
	for text := range strings.SplitSeq(header, ",") {
		text, weight, found := strings.Cut(strings.ReplaceAll(text, " ", ""), ";q=")
		q := 1.0
		if weight, _, _ = strings.Cut(weight, ";"); found {
			if parsed, err := strconv.ParseFloat(weight, 64); err == nil {
				q = parsed
			}
		}
		list = append(list, weighted{parseMedia(text), q, strings.Count(text, ";") - strings.Count(text, "*")})
	}
	slices.SortStableFunc(list, func(a, b weighted) int {
		return cmp.Or(cmp.Compare(b.q, a.q), cmp.Compare(b.specific, a.specific))
	})
	var accepted []mediaType
	for _, w := range list {
		accepted = append(accepted, w.media)
	}
	return accepted
}

// negotiate is the first of the accepted media types that can be made.
func negotiate(accepted []mediaType) (mediaType, *Error) {
	for _, media := range accepted {
		switch media {
		case mediaAny:
			return mediaJSON, nil
		case mediaJSON, mediaObject, mediaBareObject, mediaStripped, mediaCSV:
			return media, nil
		}
	}
	var names []string
	for _, media := range accepted {
		names = append(names, string(media))
	}
	return "", refuse(http.StatusNotAcceptable, "PGRST107", "None of these media types are available: "+strings.Join(names, ", "))
}
