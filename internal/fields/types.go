package fields

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Type says how values of one type are read, written and checked.
type Type[T any] struct {
	// Read reads a node into a value, and reports whether it could.
	Read func(r *Reader, path string, n Node, into *T) bool
	// Write returns what encoding/json writes; nil means the value itself.
	Write func(T) any
	// Check adds what is wrong with a value; nil means nothing.
	Check func(T, Faults)
}

// anyType is a [Type] of any values.
type anyType interface {
	read(r *Reader, path string, n Node, into any) bool
	write(v any) any
	// check takes a pointer to a value.
	check(v any, f Faults)
}

func (t Type[T]) read(r *Reader, path string, n Node, into any) bool {
	return t.Read(r, path, n, into.(*T))
}

func (t Type[T]) write(v any) any {
	if t.Write == nil {
		return v
	}
	return t.Write(v.(T))
}

func (t Type[T]) check(v any, f Faults) {
	if t.Check != nil {
		t.Check(*v.(*T), f)
	}
}

// Unlimited stands for a bound that was given up; files and JSON spell it by that word.
const Unlimited = -1

const (
	unlimited   = "unlimited"
	orUnlimited = ", or the word unlimited"
)

// endless is a type whose values may be [Unlimited] too.
func endless[T int | time.Duration](t Type[T]) Type[T] {
	return Type[T]{
		Read: func(r *Reader, path string, n Node, into *T) bool {
			if n.Kind == Text && n.Text == unlimited {
				*into = Unlimited
				return true
			}
			return t.Read(r, path, n, into)
		},
		Write: func(v T) any {
			if v == Unlimited {
				return unlimited
			}
			return t.write(v)
		},
		Check: func(v T, f Faults) {
			if v != Unlimited {
				t.Check(v, f)
			}
		},
	}
}

// Count is a whole number of at least so many, or [Unlimited]. The rest is for errors: what it counts, and
// what to write instead.
func Count(least int, what, instead string) Type[int] {
	return endless(Type[int]{
		Read: func(r *Reader, path string, n Node, into *int) bool {
			if n.Kind != Number && !isDigits(n) {
				r.Expected(path, n, "a whole number"+orUnlimited)
				return false
			}
			return r.Count(path, n, fmt.Sprintf("write %d or more%s", least, orUnlimited), into)
		},
		Check: func(n int, f Faults) {
			if n < least {
				f.Add("%d is no %s; write %s, or \"unlimited\"", n, what, instead)
			}
			checkMost(n, f)
		},
	})
}

// checkMost refuses what only some machines can count.
func checkMost(n int, f Faults) {
	if n > math.MaxInt32 {
		f.Add("%d is too large; the most is %d", n, math.MaxInt32)
	}
}

// Count reads a whole number of 0 or more; right says what may stand there.
func (r *Reader) Count(path string, n Node, right string, into *int) bool {
	v, err := strconv.ParseInt(n.Text, 10, 32)
	switch {
	case isDigits(n) && err == nil:
		r.Fault(n.At, path, Quoted(n.Text)+" is text", "write it without quotes")
	case isDigits(n), errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(n.Text, "-"):
		r.Fault(n.At, path, Quoted(n.Text)+" is too large",
			fmt.Sprintf("the most is %d: %s", math.MaxInt32, right))
	case err != nil || strconv.FormatInt(v, 10) != n.Text:
		r.Fault(n.At, path, Quoted(n.Text)+" is no whole number that can be read",
			"write digits alone, such as 3")
	case v < 0:
		r.Fault(n.At, path, fmt.Sprintf("%d is negative", v), right)
	default:
		*into = int(v)
		return true
	}
	return false
}

// isDigits finds text that would be a number without its quotes, or if it were not so large.
func isDigits(n Node) bool {
	return n.Kind == Text && n.Text != "" && strings.Trim(n.Text, "0123456789") == ""
}

// Repeats is a count of 1 or more, or 0, which is spelled "off".
var Repeats = Type[int]{
	Read: func(r *Reader, path string, n Node, into *int) bool {
		const right = "write off, or 1 or more"
		switch {
		case n.Kind == Text && n.Text == "off", n.Kind == Switch && n.Text == "false":
			*into = 0
			return true
		case n.Kind == Switch:
			*into = 1
			return true
		case n.Kind != Number:
			r.Expected(path, n, "off, true or a count")
			return false
		}
		ok := r.Count(path, n, right, into)
		if ok && *into == 0 {
			r.Fault(n.At, path, "0 is no number of repeats", right)
		}
		return ok && *into > 0
	},
	Write: func(n int) any {
		if n == 0 {
			return "off"
		}
		return n
	},
	Check: func(n int, f Faults) {
		if n < 0 {
			f.Add("%d is no number of repeats; write 1 or more, or \"off\"", n)
		}
		checkMost(n, f)
	},
}

// Duration is a duration of 0 or more.
var Duration = durations("", "")

// Bound is a duration of 0 or more, or [Unlimited].
var Bound = endless(durations(orUnlimited, `, or "unlimited"`))

// durations are those of 0 or more. also is what else may be written, orElse what else may be set.
func durations(also, orElse string) Type[time.Duration] {
	return Type[time.Duration]{
		Read: func(r *Reader, path string, n Node, into *time.Duration) bool {
			return r.duration(path, n, also, into)
		},
		Write: func(d time.Duration) any { return d.String() },
		Check: func(d time.Duration, f Faults) {
			if d < 0 {
				f.Add("%v is negative; write 0s or more%s", d, orElse)
			}
		},
	}
}

// duration reads a duration as Go writes it; also is what else may stand there.
func (r *Reader) duration(path string, n Node, also string, into *time.Duration) bool {
	if n.Kind != Text && n.Kind != Number {
		r.Expected(path, n, "a duration such as 500ms or 2s"+also)
		return false
	}
	d, err := time.ParseDuration(n.Text)
	switch {
	case err == nil && d >= 0:
		*into = d
		return true
	case err == nil:
		r.Fault(n.At, path, fmt.Sprintf("%v is negative", d), "write it without the sign"+also)
	case strings.HasPrefix(n.Text, "-") && IsNumber(n.Text[1:]):
		r.Fault(n.At, path, n.Text+" is negative", "write it without the sign and with a unit"+also)
	case IsNumber(n.Text):
		r.Fault(n.At, path, n.Text+" has no unit", fmt.Sprintf("write %ss or %sms", n.Text, n.Text)+also)
	case isEndless(n.Text):
		r.Fault(n.At, path, Quoted(n.Text)+" is longer than a duration can be", "write at most 2562047h"+also)
	default:
		r.Fault(n.At, path, Quoted(n.Text)+" is no duration", "write one such as 500ms, 2s or 1m30s"+also)
	}
	return false
}

// isEndless finds text that would be a duration if its digits were smaller. It has a unit: only "0" needs
// none.
func isEndless(s string) bool {
	zeros := strings.Map(func(c rune) rune {
		if '0' <= c && c <= '9' {
			return '0'
		}
		return c
	}, s)
	_, err := time.ParseDuration(zeros)
	return err == nil && strings.Trim(s, "+-0123456789") != ""
}

// Exact is a decimal number, written as a number or as text, such as the example; parse reads it exactly.
func Exact[D any](parse func(string) (D, error), example string) Type[D] {
	return Type[D]{Read: func(r *Reader, path string, n Node, into *D) bool {
		if n.Kind != Text && n.Kind != Number {
			r.Expected(path, n, "a decimal number such as "+example)
			return false
		}
		d, err := parse(n.Text)
		if err != nil {
			r.Fault(n.At, path, Quoted(n.Text)+" is no decimal number that can be read exactly",
				"write it without a sign and with at most 9 decimals, such as "+example)
		}
		*into = d
		return err == nil
	}}
}

// Toggle is true or false.
var Toggle = Type[bool]{Read: func(r *Reader, path string, n Node, into *bool) bool {
	if n.Kind != Switch {
		r.Expected(path, n, "true or false")
	}
	*into = n.Text == "true"
	return n.Kind == Switch
}}

// Word is one of the words.
func Word[S ~string](words ...S) Type[S] {
	known := make([]string, len(words))
	for n, w := range words {
		known[n] = string(w)
	}
	return Type[S]{
		Read: func(r *Reader, path string, n Node, into *S) bool {
			switch {
			case n.Kind != Text:
				r.Expected(path, n, "one of "+strings.Join(known, ", "))
			case !slices.Contains(known, n.Text):
				r.Fault(n.At, path, Quoted(n.Text)+" is not known", suggest(n.Text, known))
			default:
				*into = S(n.Text)
				return true
			}
			return false
		},
		Check: func(word S, f Faults) {
			if !slices.Contains(words, word) {
				f.Add("%q is not known; use one of \"%s\"", word, strings.Join(known, `", "`))
			}
		},
	}
}

// Name is any text that problem has nothing to say of.
func Name[S ~string](problem func(S) string) Type[S] {
	return Type[S]{
		Read: func(r *Reader, path string, n Node, into *S) bool {
			if n.Kind != Text {
				r.Expected(path, n, "a name")
			}
			*into = S(n.Text)
			return n.Kind == Text
		},
		Check: func(name S, f Faults) {
			if text := problem(name); text != "" {
				f.Add("%s", text)
			}
		},
	}
}

// ListOf is a list of values.
func ListOf[T any](of Type[T]) Type[[]T] {
	return Type[[]T]{
		Read: func(r *Reader, path string, n Node, into *[]T) bool {
			if n.Kind != List {
				r.Expected(path, n, "a list, such as [a, b]")
				return false
			}
			before, all := r.Found(), make([]T, len(n.Items))
			for i, one := range n.Items {
				r.stands(item(path, i), one.At)
				of.Read(r, item(path, i), one, &all[i])
			}
			*into = all
			return r.Found() == before
		},
		Write: func(all []T) any {
			out := make([]any, len(all))
			for n, one := range all {
				out[n] = of.write(one)
			}
			return out
		},
		Check: func(all []T, f Faults) {
			for n := range all {
				of.check(&all[n], f.Item(n))
			}
		},
	}
}

// Set is a list of at most so many names, each once.
func Set[S ~string](of Type[S], most int, plural string) Type[[]S] {
	t := ListOf(of)
	t.Check = func(all []S, f Faults) {
		if len(all) > most {
			f.Add("want at most %d %s, got %d", most, plural, len(all))
			return
		}
		for n, one := range all {
			wrong := len(*f.all)
			if of.Check(one, f.Item(n)); len(*f.all) == wrong && slices.Contains(all[:n], one) {
				f.Item(n).Add("%q appears twice; leave one out", one)
			}
		}
	}
	return t
}

// MapOf is a mapping whose keys are names that problem has nothing to say of.
func MapOf[K ~string, V any](of Type[V], problem func(K) string) Type[map[K]V] {
	return Type[map[K]V]{
		Read: func(r *Reader, path string, n Node, into *map[K]V) bool {
			before, all := r.Found(), map[K]V{}
			r.Mapping(path, n, func(full string, m Member) {
				var v V
				of.Read(r, full, m.Value, &v)
				all[K(m.Key)] = v
			})
			*into = all
			return r.Found() == before
		},
		Write: func(all map[K]V) any {
			out := make(map[string]any, len(all))
			for _, key := range slices.Sorted(maps.Keys(all)) {
				out[string(key)] = of.write(all[key])
			}
			return out
		},
		Check: func(all map[K]V, f Faults) {
			for _, key := range slices.Sorted(maps.Keys(all)) {
				wrong := len(*f.all)
				of.check(new(all[key]), f.At(string(key)))
				if text := problem(key); text != "" && len(*f.all) == wrong {
					f.At(string(key)).Add("%s", text)
				}
			}
		},
	}
}

// Struct is a struct that has a table.
func Struct[T any]() Type[T] {
	return Type[T]{
		Read:  func(r *Reader, path string, n Node, into *T) bool { return For[T]().Read(r, path, n, into) },
		Check: func(v T, f Faults) { For[T]().Check(&v, f) },
	}
}

// IsNumber finds a number as JSON writes those of 0 or more.
func IsNumber(text string) bool {
	const digits = "0123456789"
	return text != "" && strings.Contains(digits, text[:1]) && strings.Contains(digits, text[len(text)-1:]) &&
		json.Valid([]byte(text))
}
