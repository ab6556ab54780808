package fields

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// foreign are keys that other retry libraries have, and what to write here.
var foreign = map[string]string{
	"max_retries": "write max_attempts, which counts the first attempt too: 3 retries are 4 attempts",
	"retries":     "write max_attempts, which counts the first attempt too: 3 retries are 4 attempts",
	"attempts":    "write max_attempts",
	"retry_on":    "write retryable_errors",
	"timeout":     "write model_timeout for model calls, or tool_timeout for runs of tools",
	"max_delay":   "write cap within backoff",
	"multiplier":  "write factor",
	"default":     "write global",
	"defaults":    "write global",
}

// suggestKey is [Suggest] for a key. For a key of another library it names the key that means the same. here
// are the known keys that have a meaning where the key stands.
func suggestKey(key string, known, here []string) string {
	if own, ok := foreign[key]; ok {
		return own
	}
	return suggest(key, known, here)
}

// Suggest names the known word that was probably meant, or all of them.
func Suggest(word string, known []string) string { return suggest(word, known, known) }

func suggest(word string, known, here []string) string {
	if near := Near(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "use one of " + strings.Join(here, ", ")
}

// Near returns the known word that was probably meant; empty for none.
func Near(word string, known []string) string {
	const far = 3
	best, distance := "", far+1
	if len(word) > 64 {
		return ""
	}
	word = strings.ToLower(word)
	for _, k := range known {
		most := min(max(len(k)/3, 1), distance-1)
		longer := utf8.RuneCountInString(word) - utf8.RuneCountInString(k) // so many letters are to be dropped or added
		if longer > most || -longer > most {
			continue
		}
		if d := edits(word, k); d <= most {
			best, distance = k, d
		}
	}
	return best
}

// shortest is the length of the shortest name that is suggested for one that differs in a letter. Nearly all
// shorter names are near each other.
const shortest = 3

// Nearest returns the index of the name that a model probably meant; -1 for none. Case and separators do not
// count.
func Nearest(name string, names []string) int {
	spelled, known := folded(name), make([]string, len(names))
	for n := range names {
		known[n] = folded(names[n])
	}
	near := Near(spelled, known)
	if near == "" || len(near) < shortest && near != spelled {
		return -1
	}
	return slices.Index(known, near)
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "", ".", "", "/", "", ":", "")

func folded(name string) string { return strings.ToLower(separators.Replace(name)) }

// IsForeign reports whether a word is another library's for something that is called otherwise here.
func IsForeign(word string) bool { return foreign[word] != "" }

// edits returns the number of letters to add, drop, change or swap with a neighbour to get from a to b.
func edits(a, b string) int {
	s, t := []rune(a), []rune(b)
	older, old, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range row {
		old[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			change := 1
			if s[i-1] == t[j-1] {
				change = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+change)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(t)]
}
