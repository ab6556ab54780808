package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/object"
)

// slot is where a member of an object is read to: its name, what its value should be, and the place.
type slot struct {
	name, want string
	to         any
}

// What values should be, where several members want the same.
const (
	wantLimit   = `a whole number such as 3, or "unlimited"`
	wantSpan    = `a duration such as "500ms" or "2s", or "unlimited"`
	wantRepeats = `a whole number such as 2, or "off"`
	wantSwitch  = "true or false"
	wantWord    = "a string"
	wantLayer   = "an object, which is a policy"
)

// read takes a JSON object apart into slots: each member once, by its exact name, with a value.
func read(data []byte, slots []slot) error {
	return each(data, func(f *faults, m object.Member) {
		if into := find(slots, m.Name); into != nil {
			f.member(m, *into)
		} else {
			f.add(plain(m.Name), "this member is not known here; use %s", names(slots))
		}
	})
}

// mostFaults bounds how much is told of one value.
const mostFaults = 100

// each has every member of a JSON object read, and joins the faults.
func each(data []byte, read func(f *faults, m object.Member)) error {
	members, problem := object.Members(data)
	if problem != "" {
		return &FieldError{Problem: problem}
	}
	f := &faults{}
	for _, m := range members {
		if read(f, m); len(f.all) >= mostFaults {
			f.all = append(f.all[:mostFaults], &FieldError{Problem: "there is more that is wrong: mend this first"})
			break
		}
	}
	return errors.Join(f.all...)
}

// member reads the value of a member.
func (f *faults) member(m object.Member, into slot) {
	name := plain(m.Name)
	switch {
	case m.Twice:
		f.add(name, "this member stands here twice; leave one out")
	case object.Kind(m.Value) == "null":
		f.add(name, "want %s, got null; or leave it out", into.want)
	default:
		f.under(name, into.want, m.Value, decode(m.Value, into.to))
	}
}

// decode is json.Unmarshal, without its own looks at what reads itself.
func decode(data []byte, to any) error {
	if own, ok := to.(json.Unmarshaler); ok {
		return own.UnmarshalJSON(data)
	}
	return json.Unmarshal(data, to)
}

func find(slots []slot, name string) *slot {
	for n := range slots {
		if slots[n].name == name {
			return &slots[n]
		}
	}
	return nil
}

func names(slots []slot) string {
	all := make([]string, len(slots))
	for n, s := range slots {
		all[n] = s.name
	}
	return "one of " + strings.Join(all, ", ")
}

// under takes over what is wrong with the value of a member; a value of another type than is wanted is told in our words.
func (f *faults) under(name, want string, value []byte, err error) {
	var mistyped *json.UnmarshalTypeError
	switch {
	case err == nil:
	case errors.As(err, &mistyped):
		f.add(name, "want %s, got %s", want, shown(value))
	default:
		f.nest(name+".", err)
	}
}

// plain is a name as it may stand in an error: whole where a tool or a class could be named so.
func plain(name string) string {
	const most = 128
	if len(name) > most {
		return strconv.QuoteToASCII(name[:most]) + "…"
	}
	if quoted := strconv.QuoteToASCII(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}

// shown is a value as an error names it: by what it says where that is short.
func shown(value []byte) string {
	const most = 40
	kind := object.Kind(value)
	if (kind == "a number" || kind == "a string") && len(value) <= most {
		return string(value)
	}
	return kind
}

func (n *limit) UnmarshalJSON(data []byte) error {
	if string(data) == unlimited {
		*n = Unlimited
		return nil
	}
	count, err := strconv.Atoi(string(data))
	if err != nil || count == Unlimited { // which would be taken for the word
		return &FieldError{Problem: "want " + wantLimit + ", got " + shown(data)}
	}
	*n = limit(count)
	return nil
}

func (d *span) UnmarshalJSON(data []byte) error {
	if string(data) == unlimited {
		*d = Unlimited
		return nil
	}
	var text string
	wrong := json.Unmarshal(data, &text)
	parsed, err := time.ParseDuration(text)
	switch {
	case wrong != nil || err != nil:
		return &FieldError{Problem: fmt.Sprintf("want %s, got %s", wantSpan, shown(data))}
	case parsed == Unlimited: // it would be taken for the constant
		return &FieldError{Problem: fmt.Sprintf(`%v is negative; write "0s" or more, or %s`, parsed, unlimited)}
	}
	*d = span(parsed)
	return nil
}

func (n *repeats) UnmarshalJSON(data []byte) error {
	if string(data) == `"off"` {
		*n = 0
		return nil
	}
	count, err := strconv.Atoi(string(data))
	if err != nil {
		return &FieldError{Problem: "want " + wantRepeats + ", got " + shown(data)}
	}
	*n = repeats(count)
	return nil
}

// words is a list of names.
type words[S ~string] []S

func (w *words[S]) UnmarshalJSON(data []byte) error {
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return err
	}
	f, all := &faults{}, make(words[S], len(items))
	for n, item := range items {
		if object.Kind(item) == "a string" && json.Unmarshal(item, &all[n]) == nil {
			continue
		}
		if f.add(entry("", n), "want %s, got %s", wantWord, shown(item)); len(f.all) >= mostFaults {
			break
		}
	}
	*w = all
	return errors.Join(f.all...)
}

// table is an object whose members the user names.
type table[K ~string, V any] map[K]V

func (t *table[K, V]) UnmarshalJSON(data []byte) error {
	*t = table[K, V]{}
	return each(data, func(f *faults, m object.Member) {
		var value V
		f.member(m, slot{m.Name, "a value", &value})
		(*t)[K(m.Name)] = value
	})
}
