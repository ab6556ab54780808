// Package draw draws arbitrary policies for property tests. Only tests import it.
package draw

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

// Classes returns the classes of drawn policies and failures.
func Classes() []fault.Class {
	return append(append(fault.Correction.Classes(), fault.RateLimit, fault.Timeout, fault.Network),
		"of-my_own.1")
}

// names are what names are drawn from, by the words that tags have for them.
var names = map[string]*rapid.Generator[string]{
	"argument": rapid.SampledFrom([]string{"amount", "page", "/amount/value"}),
	"class":    texts(Classes()),
	"form":     texts(extract.Forms()),
	"model":    rapid.StringMatching("[a-z]{1,8}"),
	"tool":     rapid.StringN(1, 8, 32),
}

func texts[S ~string](all []S) *rapid.Generator[string] {
	return rapid.Map(rapid.SampledFrom(all), func(s S) string { return string(s) })
}

// tag is the tag of a field: its name in files, and what values it has.
type tag map[string]string

func tagOf(text string) tag {
	words := tag{}
	for n, word := range strings.Split(text, ",") {
		key, value, _ := strings.Cut(word, "=")
		if words[key] = value; n == 0 {
			words["name"] = key
		}
	}
	return words
}

func (f tag) says(word string) bool {
	_, there := f[word]
	return there
}

// value draws a valid value.
func (f tag) value(t *rapid.T, v reflect.Value) {
	switch to := v.Addr().Interface().(type) {
	case *backoff.BackoffStrategy:
		*to = Strategy().Draw(t, f["name"])
	case *backoff.Decimal:
		*to = backoff.Decimal(rapid.Int64Range(0, int64(backoff.One)).Draw(t, f["name"]))
	case *policy.Layer:
		switch f["name"] {
		case "transport", "tool_transport":
			*to = Transport().Draw(t, f["name"])
		case "answer":
			*to = layer(func(f tag) bool { return f.says("calls") }).Draw(t, f["name"])
		default:
			*to = Layer().Draw(t, f["name"])
		}
	default:
		f.plain(t, v)
	}
}

// plain draws a value of a plain kind.
func (f tag) plain(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		fill(t, v, nil)
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if rapid.Bool().Draw(t, f["name"]+"?") {
			f.present(t, v)
		}
	case reflect.String:
		from := names[f["each"]]
		if from == nil {
			from = texts(append([]string{""}, strings.Split(f["words"], "|")...))
		}
		v.SetString(from.Draw(t, f["name"]))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, f["name"]))
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(0, 2).Draw(t, f["name"]))
	default:
		f.number(t, v)
	}
}

// present draws a value that may be absent, and is not.
func (f tag) present(t *rapid.T, v reflect.Value) {
	one := reflect.New(v.Type().Elem())
	switch v.Kind() {
	case reflect.Pointer:
		f.value(t, one.Elem())
		v.Set(one)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		for range rapid.IntRange(0, 3).Draw(t, f["name"]) {
			one.Elem().SetZero()
			if f.value(t, one.Elem()); !holds(v, one.Elem()) {
				v.Set(reflect.Append(v, one.Elem()))
			}
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range rapid.IntRange(1, 3).Draw(t, f["name"]) {
			key := names[f["each"]].Draw(t, "key")
			one.Elem().SetZero()
			f.value(t, one.Elem())
			v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), one.Elem())
		}
	}
}

// holds reports whether a list of names has a name: each stands there once.
func holds(list, one reflect.Value) bool {
	for n := range list.Len() {
		if one.Kind() == reflect.String && list.Index(n).String() == one.String() {
			return true
		}
	}
	return false
}

// number draws a count, an amount or a duration.
func (f tag) number(t *rapid.T, v reflect.Value) {
	least, _ := strconv.ParseInt(f["least"], 10, 64)
	most := least + 20
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		most = int64(time.Hour)
	case v.Kind() == reflect.Int64:
		most = 100_000
	}
	n := rapid.Int64Range(least, most)
	if f.says("unlimited") {
		n = rapid.OneOf(n, rapid.Just(int64(policy.Unlimited)))
	}
	if f.says("absent") {
		n = rapid.OneOf(rapid.Just(int64(0)), n)
	}
	v.SetInt(n.Draw(t, f["name"]))
}

// fill draws all fields of a struct that have a tag, but those that leave names.
func fill(t *rapid.T, v reflect.Value, leave func(tag) bool) {
	for n := range v.NumField() {
		if text := v.Type().Field(n).Tag.Get("policy"); text != "" {
			if f := tagOf(text); leave == nil || !leave(f) {
				f.value(t, v.Field(n))
			}
		}
	}
	if a, ok := v.Addr().Interface().(*policy.Approval); ok && (a.Argument == "" || a.Above == nil) {
		a.Argument, a.Above = "amount", new(backoff.One)
	}
}

// layer draws a valid layer without some fields.
func layer(leave func(tag) bool) *rapid.Generator[policy.Layer] {
	return rapid.Custom(func(t *rapid.T) (l policy.Layer) {
		fill(t, reflect.ValueOf(&l).Elem(), func(f tag) bool {
			// They have no meaning in one plane or the other.
			return strings.HasSuffix(f["name"], "_timeout") || f["name"] == "classify_words" || leave(f)
		})
		return l
	})
}

// Layer draws a valid layer of the correction plane.
func Layer() *rapid.Generator[policy.Layer] { return layer(func(tag) bool { return false }) }

// Transport draws a valid layer of the transport plane.
func Transport() *rapid.Generator[policy.Layer] {
	return layer(func(f tag) bool { return f.says("correction") || f["name"] == "emit_feedback" })
}

// Set draws a valid set without adjustments.
func Set() *rapid.Generator[policy.Set] {
	return rapid.Custom(func(t *rapid.T) (s policy.Set) {
		fill(t, reflect.ValueOf(&s).Elem(), func(f tag) bool { return f.says("adjusted") || f.says("context") })
		return s
	})
}

// Price draws a valid price.
func Price() *rapid.Generator[policy.Price] {
	return rapid.Custom(func(t *rapid.T) (p policy.Price) {
		fill(t, reflect.ValueOf(&p).Elem(), nil)
		return p
	})
}

// Strategy draws a valid backoff strategy other than a list.
func Strategy() *rapid.Generator[backoff.BackoffStrategy] {
	return rapid.Custom(func(t *rapid.T) backoff.BackoffStrategy {
		base := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "base"))
		one := int64(backoff.One)
		factor := backoff.Decimal(rapid.Int64Range(one, 10*one).Draw(t, "factor"))
		s := rapid.SampledFrom([]backoff.BackoffStrategy{
			backoff.Constant(base - 1), backoff.Linear(base-1, base), backoff.Exponential(base, factor),
		}).Draw(t, "strategy")
		if rapid.Bool().Draw(t, "capped") {
			s.Cap = base * 3
		}
		s.Jitter.Kind = rapid.SampledFrom([]backoff.JitterKind{
			"", backoff.NoJitter, backoff.Proportional, backoff.Full, backoff.Equal,
		}).Draw(t, "jitter")
		if s.Jitter.Kind == backoff.Proportional {
			s.Jitter.Fraction = backoff.Decimal(rapid.Int64Range(1, int64(backoff.One)).Draw(t, "fraction"))
			s.Jitter.AfterCap = s.Cap > 0 && rapid.Bool().Draw(t, "after cap")
		}
		return s
	})
}

// Key draws a key, often the zero key.
func Key() *rapid.Generator[backoff.Key] {
	return rapid.Custom(func(t *rapid.T) backoff.Key {
		return backoff.NewKey(rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "seed"), "stream")
	})
}
