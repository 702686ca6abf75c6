package rest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A payload is what a request sends: rows to write, or arguments of a function.
type payload struct {
	text   []byte   // JSON, or the whole argument of a function
	keys   []string // sorted
	object bool     // text is an object, else an array
	form   []param  // arguments that came as a form
}

var emptyArray = []byte("[]")

// parseBody reads rows: an object, an array of objects with the same keys, CSV or a form. Where the columns are given,
// the rows are not looked into.
func parseBody(body []byte, media mediaType, columns []string) (payload, *Error) {
	switch media {
	case mediaJSON:
		if columns != nil {
			return given(body, columns), nil
		}
		return parseRows(body)
	case mediaCSV:
		return parseCSV(body)
	case mediaForm:
		object := map[string]string{}
		for _, p := range parseParams(string(body)) {
			object[p.name] = p.value
		}
		text, _ := json.Marshal(object) // strings, which cannot fail
		return payload{text: text, keys: slices.Sorted(maps.Keys(object)), object: true}, nil
	}
	return payload{}, notAcceptable(media)
}

// parseArguments reads the body of a function call.
func parseArguments(body []byte, media mediaType, columns []string) (payload, *Error) {
	switch media {
	case mediaJSON:
		if columns != nil {
			return given(body, columns), nil
		}
		if len(body) == 0 {
			return payload{text: []byte("{}"), object: true}, nil
		}
		return parseRows(body)
	case mediaForm:
		p := payload{form: parseParams(string(body)), keys: []string{}}
		for _, argument := range p.form {
			p.keys = append(p.keys, argument.name)
		}
		slices.Sort(p.keys)
		p.keys = slices.Compact(p.keys)
		return p, nil
	case mediaText, mediaXML, mediaBytes:
		return payload{text: body}, nil
	}
	return parseBody(body, media, columns)
}

// given are rows that are written into given columns.
func given(body []byte, columns []string) payload {
	columns = slices.Clone(columns)
	slices.Sort(columns)
	return payload{text: body, keys: slices.Compact(columns), object: bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))}
}

func notAcceptable(media mediaType) *Error {
	return badBody("Content-Type not acceptable: " + string(media))
}

func badBody(message string) *Error { return refuse(statusBadRequest, "PGRST102", message) }

func tooLarge() *Error {
	return refuse(http.StatusRequestEntityTooLarge, "PGRST102", "The body is too large")
}

var errKeys = errors.New("objects with other keys than the first one")

// parseRows reads a JSON document. What is neither object nor array is no row.
func parseRows(body []byte) (payload, *Error) {
	p := payload{text: body}
	decoder := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var err error
	switch decoder.PeekKind() {
	case '{':
		p.object = true
		p.keys, err = keysOf(decoder)
	case '[':
		p.keys, err = keysOfAll(decoder)
	default:
		p.text = emptyArray
		err = decoder.SkipValue()
	}
	if errors.Is(err, errKeys) {
		return p, badBody("All object keys must match")
	}
	_, behind := decoder.ReadToken()
	if err != nil || !errors.Is(behind, io.EOF) {
		return p, badBody("Empty or invalid json")
	}
	return p, nil
}

// keysOf reads an object and returns its keys, sorted.
func keysOf(decoder *jsontext.Decoder) ([]string, error) {
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err
	}
	keys := []string{}
	for decoder.PeekKind() == '"' {
		key, err := decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		keys = append(keys, key.String())
		if err := decoder.SkipValue(); err != nil {
			return nil, err
		}
	}
	_, err := decoder.ReadToken()
	slices.Sort(keys)
	return slices.Compact(keys), err
}

// keysOfAll reads an array of objects and returns the keys that they all have.
func keysOfAll(decoder *jsontext.Decoder) ([]string, error) {
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err
	}
	var common []string
	same := true
	for first := true; decoder.PeekKind() != ']'; first = false {
		if decoder.PeekKind() != '{' {
			same = false
			if err := decoder.SkipValue(); err != nil {
				return nil, err
			}
			continue
		}
		keys, err := keysOf(decoder)
		if err != nil {
			return nil, err
		}
		if first {
			common = keys
		}
		same = same && slices.Equal(keys, common)
	}
	_, err := decoder.ReadToken()
	if err == nil && !same {
		err = errKeys
	}
	return common, err
}

// maxRows bounds the JSON that is made of CSV, which repeats the columns' names in every row: of a long first line and
// many short ones it would be thousands of times the body.
const maxRows = 8 * bodyLimit

// parseCSV reads rows whose first line names the columns; NULL is null.
func parseCSV(body []byte) (payload, *Error) {
	reader := csv.NewReader(bytes.NewReader(body))
	reader.FieldsPerRecord = -1
	names, err := reader.Read()
	if err != nil || !bytes.ContainsAny(body, "\r\n") { // not even a line
		return payload{}, badBody(`parse error (not enough input) at ""`)
	}
	reader.ReuseRecord = true // of millions of lines
	p := payload{text: []byte{'['}}
	for {
		line, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF):
			p.text = append(p.text, ']')
			return p, nil
		case err != nil:
			return payload{}, badBody(err.Error())
		case len(line) < len(names):
			return payload{}, badBody("All lines must have same number of fields")
		}
		row := map[string]*string{}
		for i, name := range names {
			if row[name] = &line[i]; line[i] == "NULL" {
				row[name] = nil
			}
		}
		if p.keys == nil { // the first one
			p.keys = slices.Compact(slices.Sorted(slices.Values(names)))
		} else {
			p.text = append(p.text, ',')
		}
		object, _ := json.Marshal(row) // strings, which cannot fail
		if p.text = append(p.text, object...); len(p.text) > maxRows {
			return payload{}, tooLarge()
		}
	}
}

// A param is one of a query string or a form.
type param struct {
	name, value string
	set         bool // there is a =
}

// parseParams reads a query string. A + is a space; a % that is none of a code stands for itself.
func parseParams(text string) []param {
	var params []param
	for pair := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, set := strings.Cut(pair, "=")
		params = append(params, param{unescape(name, true), unescape(value, true), set})
	}
	return params
}

func unescape(text string, plus bool) string {
	if !strings.ContainsAny(text, "%+") {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '+' && plus:
			out = append(out, ' ')
		case text[i] == '%' && i+2 < len(text) && hex(text[i+1]) >= 0 && hex(text[i+2]) >= 0:
			out = append(out, byte(hex(text[i+1])<<4|hex(text[i+2])))
			i += 2
		default:
			out = append(out, text[i])
		}
	}
	return string(out)
}

// hex is the value of a digit; -1 is none.
func hex(c byte) int {
	return strings.IndexByte("0123456789abcdef", c|0x20)
}
