package journal

import (
	"fmt"
	"regexp"
	"strconv"
)

// mark stands where something was left out.
type mark struct {
	// Digest is the keyed digest of what was left out, Bytes its length.
	Digest string
	Bytes  int
}

var markForm = regexp.MustCompile(`^\[redacted ([0-9a-f]{32}), ([0-9]{1,18}) bytes\]$`)

func (m mark) String() string { return fmt.Sprintf("[redacted %s, %d bytes]", m.Digest, m.Bytes) }

// maxMark is longer than any mark.
const maxMark = 80

func parseMark(text string) (mark, bool) {
	if len(text) > maxMark {
		return mark{}, false
	}
	found := markForm.FindStringSubmatch(text)
	if found == nil {
		return mark{}, false
	}
	size, err := strconv.Atoi(found[2])
	return mark{found[1], size}, err == nil
}
