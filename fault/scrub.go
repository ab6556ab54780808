package fault

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-go/retake/internal/canon"
)

const leftOut = "[key left out]"

// Scrub makes the words of a provider, a server or a library fit for a log or journal: keys, tokens and
// passwords are left out as far as their form shows that they are some, everything is on one line, what
// cannot be seen is written as an escape, and beyond 1 KiB it is cut. A password that is a word, in a
// sentence, cannot be told from others. Scrubbing twice changes nothing more.
func Scrub(s string) string {
	if s == "" {
		return s
	}
	cut := len(s) > maxLine
	if cut {
		s = s[:maxLine] // a key that is cut is left out by how it begins
	}
	s = withoutKeys(strings.Join(strings.Fields(dumped.in(strings.ToValidUTF8(s, ""))), " "))
	s = strings.ReplaceAll(canon.Visible(s), "\uFFFD", `\ufffd`) // as records have it
	if cut {
		s += "…"
	}
	return canon.Cut(s, maxLine)
}

// ScrubText leaves keys, tokens and passwords out of a text of any length, as [Scrub] does. It also drops
// invalid UTF-8, and leaves the rest as it is. It takes time that grows with the length. A text of more than
// 1 KiB is searched in pieces of whole lines, and a longer line in pieces that end at a blank or comma: a
// name at the end of one and its key in the next are not seen together.
func ScrubText(s string) string {
	s = dumped.in(armoured.without(text{string: strings.ToValidUTF8(s, "")}))
	var b strings.Builder
	for rest := s; rest != ""; {
		n := pieceOf(rest)
		b.WriteString(withoutKeys(rest[:n]))
		rest = rest[n:]
	}
	return b.String()
}

// pieceOf returns how much of a text is searched at once, at most maxLine bytes.
func pieceOf(s string) int {
	if len(s) <= maxLine {
		return len(s)
	}
	for _, ends := range []string{"\n", " ,;&"} {
		if at := strings.LastIndexAny(s[:maxLine], ends); at >= 0 {
			return at + 1
		}
	}
	n := maxLine
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// withoutKeys returns a text without what has a form of secrets.
func withoutKeys(s string) string {
	t := textOf(s)
	for _, l := range lists() {
		if l.maybe(t.lower) {
			t = t.now(l.without(t))
		}
	}
	for _, f := range secrets() {
		if f.maybe(t.lower) {
			t = t.now(f.without(t))
		}
	}
	return t.string
}

// text is a text that may have keys.
type text struct {
	string
	// lower is the text in lower case, and names are the places where the name of a key begins.
	lower string
	names []int
}

func textOf(s string) text {
	t := text{string: s, lower: folded(s)}
	from, to := name().span(t.lower)
	beyond := func(r rune) bool { return r >= utf8.RuneSelf }
	if to > 0 && strings.ContainsFunc(s, beyond) { // letters may have another length in lower case
		from, to = 0, len(s)
	}
	from = max(0, from-maxName)
	for from > 0 && isWordByte(s[from-1]) {
		from--
	}
	for at := from; at < to; at++ {
		if beginsWord(s, at) && name().MatchString(s[at:nameEnd(s, at)]) {
			t.names = append(t.names, at)
		}
	}
	return t
}

// nameEnd returns where a name that begins at a place has ended: with the word that maxName reaches, for a
// word may be of any length.
func nameEnd(s string, at int) int {
	end := min(at+maxName, len(s))
	for end < len(s) && isWordByte(s[end]) {
		end++
	}
	return end
}

// now returns the text as it is after a search.
func (t text) now(s string) text {
	if s == t.string {
		return t
	}
	return textOf(s)
}

// folded returns a text in lower case, with the letters that a form takes for "s" and "k" as these.
func folded(s string) string { return strings.ReplaceAll(strings.ToLower(s), "ſ", "s") }

// beginsWord reports whether a word begins at a place, in a name too: after _, or what encodes it or a quote.
func beginsWord(s string, at int) bool {
	isLetter := func(c byte) bool { return isLower(c) || isUpper(c) }
	switch c := s[at]; {
	case c >= utf8.RuneSelf: // a form takes "ſ" for "s"
		return true
	case !isLetter(c):
		return false
	case at == 0:
		return true
	}
	if c := s[at-1]; !isLetter(c) && (c < '0' || c > '9') {
		return true
	}
	before := strings.ToLower(s[max(0, at-5):at])
	return strings.HasSuffix(before, "%5f") || strings.HasSuffix(before, "%2d") || before == "u0022"
}

// maybe reports whether a text in lower case can have the form.
func (f form) maybe(lower string) bool {
	return slices.ContainsFunc(f.has, func(text string) bool { return strings.Contains(lower, text) })
}

// span returns where the first word of the form begins in a text in lower case, and the last one ends; 0 and
// 0 for a text without.
func (f form) span(lower string) (from, to int) {
	from = len(lower)
	for _, word := range f.has {
		if first := strings.Index(lower, word); first >= 0 {
			from, to = min(from, first), max(to, strings.LastIndex(lower, word)+len(word))
		}
	}
	return min(from, to), to
}

// find returns the first match from a place on, as [regexp.Regexp.FindStringSubmatchIndex] does.
func (f form) find(t text, from int) []int {
	if !f.named {
		return foundAt(from, f.FindStringSubmatchIndex(t.string[from:]))
	}
	for _, at := range t.names {
		if at < from {
			continue
		}
		if found := foundAt(at, f.FindStringSubmatchIndex(t.string[at:])); found != nil {
			return found
		}
	}
	return nil
}

// foundAt returns the places of a match in a text, of which what was searched begins at a place.
func foundAt(at int, found []int) []int {
	for n := range found {
		found[n] += at
	}
	return found
}

// in is without for a form that is looked for by itself, in texts that may have it.
func (f form) in(s string) string {
	if f.maybe(s) {
		return f.without(text{string: s})
	}
	return s
}

// without returns a text without the keys of a form. What is no key is looked at again: it may be the name of
// one.
func (f form) without(t text) string {
	var b strings.Builder
	for done := 0; ; {
		at := f.find(t, done)
		if at == nil {
			return b.String() + t.string[done:]
		}
		from, to := at[4], at[5]
		if f.isKey(t.string[from:to], t.string[to:]) {
			b.WriteString(t.string[done:from] + leftOut)
			done = to
			continue
		}
		next := max(from, done+1)
		b.WriteString(t.string[done:next])
		done = next
	}
}

// without returns a text without the keys in lists of the form.
func (l list) without(t text) string {
	var b strings.Builder
	for done := 0; ; {
		at := l.find(t, done)
		if at == nil {
			return b.String() + t.string[done:]
		}
		item := form{doubt: ifRandom}
		if ofPassword.MatchString(t.string[at[0]:at[1]]) {
			item.doubt = ifMixed
		}
		b.WriteString(t.string[done:at[1]])
		s := t.string[at[1]:]
		for at := l.item.FindStringSubmatchIndex(s); at != nil; at = l.item.FindStringSubmatchIndex(s) {
			from, to := at[2], at[3]
			b.WriteString(s[:from])
			if item.isKey(s[from:to], s[to:]) {
				b.WriteString(leftOut)
			} else {
				b.WriteString(s[from:to])
			}
			s = s[to:]
		}
		done = len(t.string) - len(s)
	}
}

// isKey reports whether what stands in the place of a key is one, by what follows it.
func (f form) isKey(found, after string) bool {
	switch {
	case strings.HasPrefix(leftOut, strings.TrimPrefix(found, "{")), strings.HasPrefix(found, leftOut),
		strings.HasSuffix(found, ":"):
		return false
	case f.doubt == unlessWord:
		return !strings.Contains(found, "_") || strings.Trim(found, "abcdefghijklmnopqrstuvwxyz_") != ""
	case f.doubt == unlessSaid:
		return !isSaid(found)
	case f.doubt == unlessProse:
		return !isProse(found, after)
	case f.doubt == ifMixed:
		return (looksRandom(found) || mixed.MatchString(found)) && !scheme.MatchString(found)
	case f.doubt == ifRandom:
		return looksRandom(found)
	}
	return true
}

// notKeys are words that say something of a key.
var notKeys = strings.Fields("required missing wrong incorrect invalid expired denied failed unset " +
	"none null empty true false undefined redacted bearer basic token")

// mixed is a password as people choose them, and scheme a word about passwords that is made alike.
var (
	mixed  = regexp.MustCompile(`[A-Za-z].*[0-9]`)
	scheme = regexp.MustCompile(`(?i)^(?:sha|md|argon|base|pbkdf|utf|rot|line|column|field|step|v)` +
		`[\-_]?[0-9]+(?:-[a-z]+)?[.,:;!?]*$`)
)

// prose is a word that goes on with another one, and setting one that goes on with another name.
var (
	letter  = regexp.MustCompile(`^[A-Za-z]`)
	prose   = regexp.MustCompile(`^,? [a-z]`)
	setting = regexp.MustCompile(`^,? ["']?[\w.\-]+["']?\s?[=:]`)
)

// sentenceWords are words that begin a sentence about a key, or go on with one about its flag.
var sentenceWords = strings.Fields("is was has must should may can cannot does do not no the this that " +
	"a an your it field value incorrect wrong unknown please too at and or to for from with expects needs " +
	"takes requires option flag argument")

// isSaid reports whether a text is a word that says something of a key, or a sentence that does.
func isSaid(found string) bool {
	first, _, _ := strings.Cut(strings.ToLower(found), " ")
	first = strings.TrimRight(first, ".,:!?")
	return slices.Contains(notKeys, first) || slices.Contains(sentenceWords, first)
}

// isProse reports whether a text is a word of a sentence, or a sentence.
func isProse(found, after string) bool {
	if strings.Contains(found, " ") {
		return isSaid(found)
	}
	word := strings.TrimRight(found, ".:!?")
	plain := strings.Trim(word[min(1, len(word)):], "abcdefghijklmnopqrstuvwxyz") == "" && letter.MatchString(word)
	return slices.Contains(notKeys, strings.ToLower(word)) ||
		plain && prose.MatchString(after) && !setting.MatchString(after)
}

// looksRandom reports whether a text has letters and digits, or upper and lower case, as keys do and words do
// not.
func looksRandom(s string) bool {
	digits, letters, turns := 0, 0, 0
	for n := range len(s) {
		c := s[n]
		switch {
		case '0' <= c && c <= '9':
			digits++
		case isLower(c) || isUpper(c):
			letters++
		}
		if n > 0 && (isLower(s[n-1]) && isUpper(c) || isUpper(s[n-1]) && isLower(c)) {
			turns++
		}
	}
	switch {
	case len(s) < 8:
		return false
	case digits > 0 && letters > 0:
		return digits > 1 || len(s) >= 16
	case digits > 0:
		return digits >= 16
	}
	return 3*turns >= letters && letters >= 8 || letters >= 32 && letters == len(s)
}
