package policy

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/retake-go/retake/internal/fields"
)

// Settings are the model's settings for one attempt of an action. The zero value changes nothing: the model
// is used as configured.
type Settings struct {
	// Temperature (temperature) is from 0 to 2. Nil means the model's own.
	Temperature *float64 `json:"temperature,omitempty" policy:"temperature"`
	// Model (model) is the name of a model of the run, such as one of loop.WithModels. Empty means the first
	// model.
	Model string `json:"model,omitempty" policy:"model,each=model"`
}

// String returns s as in policy files: "{temperature: 0, model: big}".
func (s Settings) String() string {
	var said []string
	if s.Temperature != nil {
		said = append(said, "temperature: "+strconv.FormatFloat(*s.Temperature, 'g', -1, 64))
	}
	if s.Model != "" {
		said = append(said, "model: "+s.Model)
	}
	return "{" + strings.Join(said, ", ") + "}"
}

// SettingsOf returns the settings of an attempt, counted from 1. The last entry of PerAttempt applies to all
// later attempts.
func (p *RetryPolicy) SettingsOf(attempt int) Settings {
	if len(p.PerAttempt) == 0 {
		return Settings{}
	}
	return p.PerAttempt[min(max(attempt, 1), len(p.PerAttempt))-1]
}

// CheckModels reports every model name in the settings of attempts that is not in known, each as a
// [*FieldError], joined. It returns nil if all are known.
func (s *Set) CheckModels(known []string) error {
	f := fields.Collect()
	s.each(func(l *Layer, key, tool string) {
		for n, settings := range l.PerAttempt {
			if name := settings.Model; name != "" && !slices.Contains(known, name) {
				f.At(key).At(tool).At("attempts").Item(n).At("model").Add("there is no model %q; %s", name, oneOf(known))
			}
		}
	})
	return fields.Err[FieldError](f)
}

func oneOf(known []string) string {
	if len(known) == 0 {
		return "the run has no models by name"
	}
	return "use one of " + strings.Join(slices.Sorted(slices.Values(known)), ", ")
}

// The limits of the settings of attempts and of the name of a model.
const (
	maxSettings  = 100
	maxModelName = 200
)

// checkSettings checks what the tags do not say of the settings of attempts.
func checkSettings(all []Settings, f fields.Faults) {
	if len(all) > maxSettings {
		f.Add("want the settings of at most %d attempts, got %d", maxSettings, len(all))
		return
	}
	for n, s := range all {
		if t := s.Temperature; t != nil && (math.Signbit(*t) || !(*t <= 2)) {
			f.Item(n).At("temperature").Add("must be 0 to 2, got %v", *t)
		}
	}
}

// modelProblem describes what is wrong with the name of a model, or returns "".
func modelProblem(name string) string {
	hidden := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	if len(name) > maxModelName || strings.ContainsFunc(name, hidden) {
		return "is not a valid model name; use at most " + strconv.Itoa(maxModelName) + " bytes of printable text"
	}
	return ""
}
