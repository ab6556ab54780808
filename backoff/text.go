package backoff

import (
	"fmt"
	"strconv"
	"strings"
)

// maxListed bounds how many entries of a list String shows.
const maxListed = 12

// String is the strategy on one line for people: "exponential 500ms ×2, cap 30s, jitter ±20%".
func (s BackoffStrategy) String() string {
	text := s.plainText()
	if s.Cap != 0 {
		text += fmt.Sprintf(", cap %s", s.Cap)
	}
	if s.Jitter != (Jitter{}) {
		text += ", jitter " + s.Jitter.String()
	}
	return text
}

func (s *BackoffStrategy) plainText() string {
	switch s.Kind {
	case KindConstant:
		return fmt.Sprintf("constant %s", s.Delay)
	case KindLinear:
		return fmt.Sprintf("linear %s +%s", s.Base, s.Step)
	case KindExponential:
		return fmt.Sprintf("exponential %s ×%s", s.Base, s.Factor)
	case KindList:
		return "list " + s.listText()
	case "":
		return "no backoff"
	}
	return "unknown backoff " + quoted(string(s.Kind))
}

func (s *BackoffStrategy) listText() string {
	shown := s.Delays[:min(len(s.Delays), maxListed)]
	words := make([]string, len(shown))
	for i, d := range shown {
		words[i] = d.String()
	}
	text := strings.Join(words, " ")
	if more := len(s.Delays) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// String is the jitter for people: "±20%", "±20% after the cap", "full"; "none" for the zero value.
func (j Jitter) String() string {
	switch {
	case j == Jitter{}:
		return "none"
	case j.Kind != Proportional:
		return string(j.Kind)
	case j.AfterCap:
		return "±" + j.Fraction.percent() + " after the cap"
	}
	return "±" + j.Fraction.percent()
}

// quoted is what was received, for an error: quoted, and cut where it is long.
func quoted(text string) string {
	const most = 40
	if len(text) > most {
		return strconv.QuoteToASCII(text[:most]) + "…"
	}
	return strconv.QuoteToASCII(text)
}
