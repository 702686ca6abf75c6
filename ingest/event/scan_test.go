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

// What is printed is what the library writes.
func FuzzPrintVisit(f *testing.F) {
	f.Add(encode(f, plainVisit()))
	for name := range goldens {
		f.Add(golden(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v := Visit{}
		if json.Unmarshal(text, &v) != nil {
			return
		}
		v.V = Version
		printed, ok := printVisit([]byte("before"), &v)
		if !ok {
			if string(printed) != "before" {
				t.Fatalf("%s is not printed, and left %q", text, printed)
			}
			return
		}
		if want, err := encodeRecord(nil, &v); err != nil || string(printed) != "before"+string(want) {
			t.Fatalf("printed %s\nthe library writes %s, %v", printed, want, err)
		}
	})
}

// plainVisit has every field that is scanned.
func plainVisit() Visit {
	at := time.Date(2028, 2, 29, 23, 59, 59, 987e6, time.UTC)
	id := RunID(Identity{Due: at})
	return Visit{
		V: Version, ID: id, OrganizationID: uuid.UUID{1: 0xab}, BrandID: uuid.UUID{15: 0xcd}, At: At(at),
		Event: VisitView, Platform: "openai", PlatformBy: "referrer", Host: "www.brand.example", Path: "/a?b'<c>&\x7f",
		ReferrerHost: "chatgpt.com",
		Country:      "DE", CountryBy: "database", Language: "de-DE", Screen: "1920x1080", TimeZone: "Europe/Berlin",
		Session: "0123456789", NewSession: true, Visitor: math.MaxUint64, Simulated: true,
	}
}

// A visit is printed as the library writes it, and scanned, whichever of its fields it has; the
// library is left those with a goal, an escape or more than ASCII.
func TestWhatIsPrintedAndScanned(t *testing.T) {
	full := plainVisit()
	for field := range reflect.TypeFor[Visit]().NumField() {
		v := full
		reflect.ValueOf(&v).Elem().Field(field).SetZero()
		v.V = Version
		printed, ok := printVisit(nil, &v)
		if library, err := encodeRecord(nil, &v); !ok || err != nil || string(printed) != string(library) {
			t.Errorf("printed %s, %t\nthe library writes %s, %v", printed, ok, library, err)
		}
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
		if printed, ok := printVisit(nil, &v); ok {
			t.Errorf("%s: printed %s", name, printed)
		}
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

// What is nearly such a record is scanned as the library reads it, or not at all.
func TestWhatIsNearlyScanned(t *testing.T) {
	record := string(encode(t, plainVisit()))
	var near []string
	for i := range record {
		near = append(near, record[:i], record[:i]+" "+record[i:], record[:i]+record[i+1:])
		for _, other := range "019AGfg-:\"\\\x1f\x7f\x80" {
			near = append(near, record[:i]+string(other)+record[i+1:])
		}
		near = append(near, record[:i]+"\x80"+record[i+1:])
	}
	for _, at := range []string{"2027-02-29T00:00:00.000Z", "0000-01-01T00:00:00.000Z", "2028-00-10T00:00:00.000Z",
		"2028-13-10T00:00:00.000Z", "2028-04-31T00:00:00.000Z", "2028-04-00T00:00:00.000Z",
		"2028-04-30T24:00:00.000Z", "2028-04-30T23:60:00.000Z", "2028-04-30T23:59:60.000Z",
		"9999-12-31T23:59:59.999Z"} {
		near = append(near, strings.Replace(record, "2028-02-29T23:59:59.987Z", at, 1))
	}
	for _, number := range []string{
		"007", "0", "-1", "1.0", "1e3", "", "18446744073709551616", "99999999999999999999",
	} {
		near = append(near, strings.Replace(record, "18446744073709551615", number, 1))
	}
	scanned := 0
	for _, text := range near {
		var got, want Visit
		if !scanVisit([]byte(text), &got) {
			continue
		}
		scanned++
		if err := json.Unmarshal([]byte(text), &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("scanned %s as %+v\nthe library reads %+v, %v", text, got, want, err)
		}
	}
	if scanned == 0 {
		t.Error("nothing that is near was scanned: a digit of an id in place of another should be")
	}
}
