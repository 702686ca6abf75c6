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

	"github.com/go-json-experiment/json/jsontext"
)

// A payload is the body of a request: rows to write, or arguments of a function.
type payload struct {
	text   []byte   // JSON, or the only argument of a function
	keys   []string // sorted
	object bool     // text is an object, else an array
	form   []param  // arguments that came as a form
}

var emptyArray = []byte("[]")

// parseBody reads rows: an object, an array of objects with the same keys, CSV or a form. With columns, the keys are
// these, and the rows are not parsed.
func parseBody(body []byte, media mediaType, columns []string) (payload, error) {
	switch {
	case media == mediaJSON && columns != nil:
		keys := slices.Compact(slices.Sorted(slices.Values(columns)))
		object := bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
		return payload{text: body, keys: keys, object: object}, nil
	case media == mediaJSON:
		return parseRows(body)
	case media == mediaCSV:
		return parseCSV(body)
	case media == mediaForm:
		text, keys := formObject(parseParams(string(body)))
		return payload{text: text, keys: keys, object: true}, nil
	}
	return payload{}, badBody("Content-Type not acceptable: " + string(media))
}

func parseArguments(body []byte, media mediaType, columns []string) (payload, error) {
	switch media {
	case mediaJSON:
		if columns == nil && len(body) == 0 {
			return payload{text: []byte("{}"), object: true}, nil
		}
	case mediaForm:
		form := parseParams(string(body))
		_, keys := formObject(form)
		return payload{form: form, keys: keys}, nil
	case mediaText, mediaXML, mediaBytes:
		return payload{text: body}, nil
	}
	return parseBody(body, media, columns)
}

// formObject returns a form as a JSON object, and its keys. The last parameter of a name counts.
func formObject(form []param) (text []byte, keys []string) {
	object := map[string]string{}
	for _, p := range form {
		object[p.name] = p.value
	}
	return encodeObject(object), slices.Sorted(maps.Keys(object))
}

// encodeObject writes strings as a JSON object.
func encodeObject[V string | *string](object map[string]V) []byte {
	text, _ := json.Marshal(object) // strings, which cannot fail
	return text
}

func badBody(message string) error { return badRequest("PGRST102", message) }

var errKeysDiffer = errors.New("objects with other keys than the first one")

// parseRows reads a JSON document. A document that is neither object nor array has no rows.
func parseRows(body []byte) (payload, error) {
	p := payload{text: body}
	decoder := jsontext.NewDecoder(bytes.NewReader(body),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var err error
	switch decoder.PeekKind() {
	case '{':
		p.object = true
		p.keys, err = objectKeys(decoder)
	case '[':
		p.keys, err = arrayKeys(decoder)
	default:
		p.text = emptyArray
		err = decoder.SkipValue()
	}
	if errors.Is(err, errKeysDiffer) {
		return p, badBody("All object keys must match")
	}
	_, trailing := decoder.ReadToken()
	if err != nil || !errors.Is(trailing, io.EOF) {
		return p, badBody("Empty or invalid json")
	}
	return p, nil
}

// objectKeys reads an object and returns its keys, sorted.
func objectKeys(decoder *jsontext.Decoder) ([]string, error) {
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

// arrayKeys reads an array of objects and returns the keys that all of them have.
func arrayKeys(decoder *jsontext.Decoder) ([]string, error) {
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
		keys, err := objectKeys(decoder)
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
		err = errKeysDiffer
	}
	return common, err
}

// maxCSV bounds the JSON that is made of CSV and repeats the columns' names in every row: of a long first line and many
// short ones it would be thousands of times the body.
const maxCSV = 8 * bodyLimit

// parseCSV reads rows whose first line names the columns; NULL is null.
func parseCSV(body []byte) (payload, error) {
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
		if p.keys == nil { // the first line
			p.keys = slices.Sorted(maps.Keys(row))
		} else {
			p.text = append(p.text, ',')
		}
		if p.text = append(p.text, encodeObject(row)...); len(p.text) > maxCSV {
			return payload{}, refuse(http.StatusRequestEntityTooLarge, "PGRST102", "The body is too large")
		}
	}
}
