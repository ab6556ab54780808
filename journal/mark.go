package journal

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// mark stands where something was left out. Marks of equal things are equal.
type mark struct {
	// Digest is the keyed digest of what was left out, Bytes its length.
	Digest string
	Bytes  int
	// JSON is set for a JSON value that was no string.
	JSON bool
}

var markForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\[redacted ([0-9a-f]{32}), ([0-9]{1,18}) bytes( of JSON)?\]$`)
})

const markStart = "[redacted "

func (m mark) String() string {
	of := ""
	if m.JSON {
		of = " of JSON"
	}
	return fmt.Sprintf("%s%s, %d bytes%s]", markStart, m.Digest, m.Bytes, of)
}

func parseMark(text string) (mark, bool) {
	if !strings.HasPrefix(text, markStart) {
		return mark{}, false
	}
	found := markForm().FindStringSubmatch(text)
	if found == nil {
		return mark{}, false
	}
	size, err := strconv.Atoi(found[2])
	return mark{found[1], size, found[3] != ""}, err == nil
}
