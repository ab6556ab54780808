package fault

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// secrets are the forms in which providers and clients repeat a key; what is left out is the second group.
var secrets = []*regexp.Regexp{
	// Authorization: Bearer …, bearer …, Basic …
	regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)([A-Za-z0-9_\-.~+/=*]{8,})`),
	// ?key=…, "api_key": "…", x-api-key: …, password=…, key provided: …
	regexp.MustCompile(`(?i)((?:\b|[_\-])(?:api[_\- ]?key|key|token|secret|passw(?:or)?d|authorization|credential|sig|signature)` +
		`(?: provided| is| was| given)?\\?["']?\s*[:=]\s*\\?["']?)([^\s"'\\&,;)}\]<>]{4,})`),
	// Keys that say by how they begin that they are keys.
	regexp.MustCompile(`(\b|_)((?:sk|pk|rk|gsk|hf|ghp|gho|ghs|xai|pplx|nvapi|r8|sess|xox[abprs])[_\-][A-Za-z0-9_\-*.]{6,}|` +
		`AIza[A-Za-z0-9_\-*]{8,}|A(?:KIA|SIA)[A-Z0-9*]{8,}|ya29\.[A-Za-z0-9_\-.*]{6,}|github_pat_[A-Za-z0-9_*]{6,}|eyJ[A-Za-z0-9_\-]{8,}[A-Za-z0-9_\-.=*]*)`),
	// https://user:password@host
	regexp.MustCompile(`(://[^/\s:@]*:)([^/\s@]+)@`),
}

// leftOut replaces a key.
const leftOut = "[key left out]"

// Scrub makes the words of a provider, a server or a library fit for a log or journal: keys, tokens and
// passwords are left out as far as their form shows that they are some, everything is on one line, what
// cannot be seen is written as an escape, and beyond 1 KiB it is cut. Scrubbing twice changes nothing more.
func Scrub(s string) string {
	if s == "" {
		return s
	}
	cut := len(s) > maxLine
	if cut {
		s = s[:maxLine] // a key that is cut is left out by how it begins
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	for _, form := range secrets {
		s = form.ReplaceAllStringFunc(s, func(found string) string { return without(form, found) })
	}
	s = seen(s)
	if room := maxLine - len("…"); cut || len(s) > maxLine {
		s = strings.ToValidUTF8(s[:min(len(s), room)], "") + "…"
	}
	return s
}

// without returns the text that a form has found, without the key.
func without(form *regexp.Regexp, found string) string {
	at := form.FindStringSubmatchIndex(found)
	if len(at) < 6 || strings.Trim(found[at[4]:at[5]], "0123456789.") == "" ||
		strings.EqualFold(found[at[4]:at[5]], "bearer") || strings.HasPrefix(leftOut, found[at[4]:at[5]]) {
		return found
	}
	return found[:at[4]] + leftOut + found[at[5]:]
}

// seen writes what cannot be seen as an escape: control characters, marks of direction.
func seen(s string) string {
	graphic := func(r rune) bool { return unicode.IsGraphic(r) && r != utf8.RuneError }
	if strings.IndexFunc(s, func(r rune) bool { return !graphic(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if graphic(r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}
