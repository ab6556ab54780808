package file

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/policy"
)

const unlimited = "unlimited"

// count reads a whole number of 0 or more; right says what may stand there, for one that is negative.
func (r *reader) count(path string, n node, right string) (int, bool) {
	v, err := strconv.ParseInt(n.text, 10, 32)
	switch {
	case isDigits(n) && err == nil:
		r.fault(n.at, path, shorten(n.text)+" is text", "write it without quotes")
	case isDigits(n), errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(n.text, "-"):
		r.fault(n.at, path, shorten(n.text)+" is too large", fmt.Sprintf("the most is %d: %s", math.MaxInt32, right))
	case err != nil || strconv.FormatInt(v, 10) != n.text:
		r.fault(n.at, path, shorten(n.text)+" is no whole number that can be read", "write digits alone, such as 3")
	case v < 0:
		r.fault(n.at, path, fmt.Sprintf("%d is negative", v), right)
	default:
		return int(v), true
	}
	return 0, false
}

// isDigits finds text that would be a number without its quotes, or if it were not so large.
func isDigits(n node) bool {
	return n.kind == text && n.text != "" && strings.Trim(n.text, "0123456789") == ""
}

// bound reads a whole number of 0 or more, or the word unlimited. What is below least and not negative is refused later.
func (r *reader) bound(path string, n node, least int) (int, bool) {
	switch {
	case n.kind == text && n.text == unlimited:
		return policy.Unlimited, true
	case n.kind != number && !isDigits(n):
		r.expected(path, n, "a whole number"+orUnlimited)
		return 0, false
	}
	return r.count(path, n, fmt.Sprintf("write %d or more%s", least, orUnlimited))
}

// orUnlimited ends what may stand where a bound may be given up.
const orUnlimited = ", or the word unlimited"

// duration reads a duration of 0 or more, as Go writes it.
func (r *reader) duration(path string, n node) (time.Duration, bool) { return r.span(path, n, "") }

// durationBound reads a duration of 0 or more, or the word unlimited.
func (r *reader) durationBound(path string, n node) (time.Duration, bool) {
	if n.kind == text && n.text == unlimited {
		return policy.Unlimited, true
	}
	return r.span(path, n, orUnlimited)
}

// span reads a duration; also is what else may stand there.
func (r *reader) span(path string, n node, also string) (time.Duration, bool) {
	if n.kind != text && n.kind != number {
		r.expected(path, n, "a duration such as 500ms or 2s"+also)
		return 0, false
	}
	d, err := time.ParseDuration(n.text)
	switch {
	case err == nil && d >= 0:
		return d, true
	case err == nil:
		r.fault(n.at, path, fmt.Sprintf("%v is negative", d), "write it without the sign"+also)
	case strings.HasPrefix(n.text, "-") && isDecimal(n.text[1:]):
		r.fault(n.at, path, n.text+" is negative", "write it without the sign and with a unit"+also)
	case isDecimal(n.text):
		r.fault(n.at, path, n.text+" has no unit", fmt.Sprintf("write %ss or %sms", n.text, n.text)+also)
	case isEndless(n.text):
		r.fault(n.at, path, shorten(n.text)+" is longer than a duration can be", "write at most 2562047h"+also)
	default:
		r.fault(n.at, path, shorten(n.text)+" is no duration", "write one such as 500ms, 2s or 1m30s"+also)
	}
	return 0, false
}

// isEndless finds text that would be a duration if its digits were smaller. It has a unit: only "0", with a sign or without one, needs none.
func isEndless(s string) bool {
	_, err := time.ParseDuration(strings.Map(func(c rune) rune {
		if '0' <= c && c <= '9' {
			return '0'
		}
		return c
	}, s))
	return err == nil && strings.Trim(s, "+-0123456789") != ""
}

func isDecimal(s string) bool {
	_, err := backoff.ParseDecimal(s)
	return err == nil
}

// decimal reads an exact decimal, written as a number or as text, such as the example; 0 where it could not be.
func (r *reader) decimal(path string, n node, example string) backoff.Decimal {
	if n.kind != text && n.kind != number {
		r.expected(path, n, "a decimal number such as "+example)
		return 0
	}
	d, err := backoff.ParseDecimal(n.text)
	if err != nil {
		r.fault(n.at, path, shorten(n.text)+" is no decimal number that can be read exactly",
			"write it without a sign and with at most 9 decimals, such as "+example)
	}
	return d
}

// boolean reads true or false.
func (r *reader) boolean(path string, n node) (value, ok bool) {
	if n.kind != boolean {
		r.expected(path, n, "true or false")
	}
	return n.text == "true", n.kind == boolean
}

// word reads one of the known words; "" where it could not be.
func (r *reader) word(path string, n node, known []string) string {
	if n.kind != text {
		r.expected(path, n, "one of "+strings.Join(known, ", "))
		return ""
	}
	if !slices.Contains(known, n.text) {
		r.fault(n.at, path, shorten(n.text)+" is not known", suggest(n.text, known))
		return ""
	}
	return n.text
}

// list reads every item of a list; path names the list.
func list[T any](r *reader, path string, n node, read func(path string, n node) (T, bool)) ([]T, bool) {
	if n.kind != sequence {
		r.expected(path, n, "a list, such as [a, b]")
		return nil, false
	}
	before, all := r.found(), []T{}
	for i, item := range n.items {
		full := fmt.Sprintf("%s[%d]", path, i)
		r.places[full] = item.at
		v, _ := read(full, item)
		all = append(all, v) // also where it could not be read, so that the numbers of the others stay right
	}
	return all, r.found() == before
}

// expected reports a value of the wrong kind.
func (r *reader) expected(path string, n node, what string) {
	got := string(n.kind)
	switch n.kind {
	case text, number, boolean:
		got = fmt.Sprintf("%s %s", n.kind, shorten(n.text))
	}
	r.fault(n.at, path, fmt.Sprintf("expected %s, got %s", what, got), "")
}

// shorten quotes what was written, and cuts it where it is long.
func shorten(s string) string { return strconv.Quote(cut(s, 40)) }

// cut bounds the number of characters.
func cut(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
