package event

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/gofrs/uuid/v5"
)

// What is scanned is read by the library, and as the same.
func FuzzScanVisit(f *testing.F) {
	for name := range goldens {
		f.Add(golden(f, name))
	}
	f.Add(encode(f, plainVisit()))
	f.Fuzz(func(t *testing.T, text []byte) {
		var scanned, want Visit
		if !scanVisit(text, &scanned) {
			return
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("scanned what the library refuses: %v\n%s", err, text)
		}
		if !reflect.DeepEqual(scanned, want) {
			t.Fatalf("%s\nscanned as %+v\nthe library reads %+v", text, scanned, want)
		}
	})
}

// plainVisit has every field that is scanned.
func plainVisit() Visit {
	at := time.Date(2028, 2, 29, 23, 59, 59, 987e6, time.UTC)
	id := RunID(Identity{Due: at})
	return Visit{
		V: Version, ID: id, OrganizationID: uuid.UUID{1: 0xab}, BrandID: uuid.UUID{15: 0xcd}, At: At(at),
		Event: VisitView, Platform: "openai", PlatformBy: "referrer", Host: "www.brand.example", Path: "/a?b'<c>&\x7f", ReferrerHost: "chatgpt.com",
		Country: "DE", CountryBy: "database", Language: "de-DE", Screen: "1920x1080", TimeZone: "Europe/Berlin",
		Session: "0123456789", NewSession: true, Visitor: math.MaxUint64, Simulated: true,
	}
}

// A record that EncodeVisit writes is scanned, whichever of its fields it has; the
// library is left those with a goal, an escape or more than ASCII.
func TestWhatIsScanned(t *testing.T) {
	full := plainVisit()
	for field := range reflect.TypeFor[Visit]().NumField() {
		v := full
		reflect.ValueOf(&v).Elem().Field(field).SetZero()
		v.V = Version
		var got Visit
		if b := encode(t, v); !scanVisit(b, &got) || !reflect.DeepEqual(got, v) {
			t.Errorf("%s\nscanned as %+v", b, got)
		}
	}
	for name, change := range map[string]func(*Visit){
		"goal":            func(v *Visit) { v.Event, v.Goal = VisitGoal, &Goal{Name: "order"} },
		"quote":           func(v *Visit) { v.Path = `/"` },
		"more than ASCII": func(v *Visit) { v.Path = "/käse" },
	} {
		v, got := full, Visit{}
		change(&v)
		b := encode(t, v)
		if scanVisit(b, &got) {
			t.Errorf("%s: scanned %s", name, b)
		}
		if err := DecodeVisit(b, &got); err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("%s: decoded as %+v, %v", name, got, err)
		}
	}
}

// A number beyond 64 bits is left to the library, which refuses it.
func TestNumberThatOverflows(t *testing.T) {
	record := strings.Replace(string(encode(t, plainVisit())), "18446744073709551615", "18446744073709551616", 1)
	if err := DecodeVisit([]byte(record), new(Visit)); !errors.Is(err, ErrMalformed) {
		t.Errorf("%s: %v", record, err)
	}
}

// What is nearly such a record is left to the library too.
func TestWhatIsNotScanned(t *testing.T) {
	record := string(encode(t, plainVisit()))
	var v Visit
	for i := range record {
		for _, changed := range []string{record[:i], record[:i] + " " + record[i:], record[:i] + record[i+1:]} {
			if !scanVisit([]byte(changed), &v) {
				continue
			}
			var want Visit
			if err := json.Unmarshal([]byte(changed), &want); err != nil || !reflect.DeepEqual(v, want) {
				t.Errorf("scanned %s as %+v\nthe library reads %+v, %v", changed, v, want, err)
			}
		}
	}
}
