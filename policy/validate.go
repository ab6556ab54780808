package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
)

// FieldError is one thing wrong with one field of a policy. It is comparable.
type FieldError struct {
	// Path names the field as files do: "tools.book_flight.backoff.factor", "retryable_errors[2]"; empty for a value that is none at all.
	Path string
	// Problem says what is wrong and what would be right.
	Problem string
}

// Error is "path: problem".
func (e *FieldError) Error() string {
	if e.Path == "" {
		return e.Problem
	}
	return e.Path + ": " + e.Problem
}

// faults collects field errors under a common prefix.
type faults struct {
	prefix string
	all    []error
}

//go:noinline // no fault is in a hurry, and there are many places that add one
func (f *faults) add(path, format string, args ...any) {
	f.all = append(f.all, &FieldError{Path: f.prefix + path, Problem: fmt.Sprintf(format, args...)})
}

// nest takes over the faults of a part of the value, each with the prefix before its path.
func (f *faults) nest(prefix string, err error) {
	for _, one := range flatten(err) {
		path, problem := "", one.Error()
		var ours *FieldError
		var theirs *backoff.FieldError
		if errors.As(one, &ours) {
			path, problem = ours.Path, ours.Problem
		} else if errors.As(one, &theirs) {
			path, problem = theirs.Field, theirs.Problem
		}
		if path == "" || path[0] == '[' { // the part itself, or an entry of it
			f.add(strings.TrimSuffix(prefix, ".")+path, "%s", problem)
		} else {
			f.add(prefix+path, "%s", problem)
		}
	}
}

// flatten returns the errors that were joined into err.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, flatten(one)...)
	}
	return all
}

// Validate reports every field that makes no sense, each as a [*FieldError], joined; nil when there is none.
func (p RetryPolicy) Validate() error {
	l, f := p.Layer(), &faults{}
	for _, one := range fields {
		if !one.set(&l) {
			f.add(one.name, "is missing; start from a preset, or from Resolve")
		}
	}
	f.nest("", l.Validate())
	return errors.Join(f.all...)
}

// Validate reports every field of the layer that makes no sense, each as a [*FieldError], joined; nil when there is none.
func (l Layer) Validate() error { return l.validate() }

func (l *Layer) validate() error {
	if l.silent() {
		return nil
	}
	f := &faults{}
	l.checkCounts(f)
	l.checkTimes(f)
	l.checkWords(f)
	checkClasses(f, l.RetryableErrors)
	for n, form := range l.FormsOff {
		if !slices.Contains(extract.Forms(), form) {
			f.add(entry("forms_off", n), "%q is no form of wrapping; use %s", form, oneOf(extract.Forms()))
		} else if slices.Index(l.FormsOff, form) < n {
			f.add(entry("forms_off", n), "%q stands here twice; leave one out", form)
		}
	}
	if l.Backoff != nil {
		f.nest("backoff.", l.Backoff.Validate())
		if !basesFit(l.Bases, l.Backoff) {
			f.add("bases", basesOnList)
		}
	}
	return errors.Join(f.all...)
}

func (l *Layer) checkCounts(f *faults) {
	if n := l.MaxAttempts; n != nil && *n < 1 && *n != Unlimited {
		f.add("max_attempts", "%d is no number of attempts; write 1 for a single one, or \"unlimited\"", *n)
	}
	if n := l.NoProgress; n != nil && *n < 0 {
		f.add("no_progress", "%d is no number of repeats; write 1 or more, or \"off\"", *n)
	}
}

func (l *Layer) checkTimes(f *faults) {
	var classes []fault.Class
	if len(l.Bases) > 0 {
		classes = slices.Sorted(maps.Keys(l.Bases))
	}
	for _, class := range classes {
		if path := "bases." + string(class); l.Bases[class] < 0 {
			f.add(path, "%v is negative; write 0s or more", l.Bases[class])
		} else if problem := classProblem(class); problem != "" {
			f.add(path, "%s", problem)
		}
	}
	for _, bound := range []struct {
		path string
		d    *time.Duration
	}{{"max_retry_after", l.MaxRetryAfter}, {"max_total_delay", l.MaxTotalDelay}} {
		if bound.d != nil && *bound.d < 0 && *bound.d != Unlimited {
			f.add(bound.path, "%v is negative; write 0s or more, or \"unlimited\"", *bound.d)
		}
	}
}

func (l *Layer) checkWords(f *faults) {
	checkWord(f, "retry_after", l.RetryAfter, Floor, First)
	checkWord(f, "text_repairs", l.TextRepairs, Accept, Note, Refuse)
	checkWord(f, "native_repairs", l.NativeRepairs, Accept, Note, Refuse)
	checkWord(f, "on_reducer_error", l.OnReducerError, EndAction, StopRun)
}

// checkWord refuses a word that is not known; the empty one is absent.
func checkWord[S ~string](f *faults, path string, word S, known ...S) {
	if word != "" && !slices.Contains(known, word) {
		f.add(path, "%q is not known; use %s", word, oneOf(known))
	}
}

const basesOnList = "a list of delays has no base to replace; use another kind of backoff, or no bases"

// basesFit reports whether the strategy has a base for the bases to replace.
func basesFit(bases map[fault.Class]time.Duration, s *backoff.BackoffStrategy) bool {
	return len(bases) == 0 || s.Kind != backoff.KindList
}

// entry is the path of an entry of a list.
func entry(list string, n int) string { return fmt.Sprintf("%s[%d]", list, n) }

// maxClasses bounds how many classes one list has.
const maxClasses = 1000

func checkClasses(f *faults, classes []fault.Class) {
	if len(classes) > maxClasses {
		f.add("retryable_errors", "want at most %d classes, got %d", maxClasses, len(classes))
		return
	}
	for n, class := range classes {
		if problem := classProblem(class); problem != "" {
			f.add(entry("retryable_errors", n), "%s", problem)
		} else if slices.Index(classes, class) < n {
			f.add(entry("retryable_errors", n), "%q stands here twice; leave one out", class)
		}
	}
}

// maxClass bounds the length of a class of the user's own, which is a label in logs and metrics.
const maxClass = 64

// classProblem says what is wrong with the name of a class, or nothing. No failure ever has a class by the name that a
// vocabulary of fault gives it: a policy that lists one would look right and do nothing.
func classProblem(c fault.Class) string {
	if _, built := fault.Lookup(c); built {
		return ""
	}
	bad := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
	}
	if class, known := fault.ParseName(string(c)); known && class != c {
		return fmt.Sprintf("%q is a name that others have for a class; write %s", c, class)
	}
	if c == "" || len(c) > maxClass || strings.ContainsFunc(string(c), bad) {
		return fmt.Sprintf("%q is no class; use 1 to %d of a-z, 0-9, '_', '-' and '.'", c, maxClass)
	}
	return ""
}

func oneOf[S ~string](words []S) string {
	quoted := make([]string, len(words))
	for n, w := range words {
		quoted[n] = fmt.Sprintf("%q", string(w))
	}
	return "one of " + strings.Join(quoted, ", ")
}
