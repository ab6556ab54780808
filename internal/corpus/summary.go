package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/policy"
)

// Summary adds up runs. The zero value is that of no run.
type Summary struct {
	Sessions  int `json:"sessions"`
	Succeeded int `json:"succeeded"`
	Exhausted int `json:"exhausted"`
	// Attempts counts sessions by the attempt that succeeded, from 1.
	Attempts map[int]int `json:"attempts"`
	// Feedback counts records of feedback, Reasons decisions.
	Feedback int                   `json:"feedback"`
	Reasons  map[policy.Reason]int `json:"calls_by_reason"`
	// Events is the SHA-256 of the digests of all runs, in order.
	Events string `json:"events_sha256"`

	digests hash.Hash
}

// Add counts a run.
func (s *Summary) Add(r Run) {
	if s.digests == nil {
		s.digests = sha256.New()
		s.Attempts, s.Reasons = map[int]int{1: 0, 2: 0, 3: 0}, map[policy.Reason]int{}
	}
	s.Sessions++
	if r.Attempt == 0 {
		s.Exhausted++
	} else {
		s.Succeeded++
		s.Attempts[r.Attempt]++
	}
	s.Feedback += r.Feedback
	for reason, n := range r.Reasons {
		s.Reasons[reason] += n
	}
	s.digests.Write(r.Digest[:])
	s.Events = hex.EncodeToString(s.digests.Sum(nil))
}

// Tally counts verdicts. The zero value is that of no verdict.
type Tally struct {
	Replies, OK int
	// Classes counts the replies that are not ok.
	Classes map[fault.Class]int
}

// Add counts a verdict.
func (t *Tally) Add(v Verdict) {
	t.Replies++
	if v.OK {
		t.OK++
		return
	}
	if t.Classes == nil {
		t.Classes = map[fault.Class]int{}
	}
	t.Classes[v.Class]++
}

// String returns the tally for people: "12 replies: 10 ok, 2 not ok (tool_validation 2)".
func (t Tally) String() string {
	text := fmt.Sprintf("%s: %d ok, %d not ok", several.Of(t.Replies, "reply"), t.OK,
		t.Replies-t.OK)
	var classes []string
	for _, c := range slices.Sorted(maps.Keys(t.Classes)) {
		classes = append(classes, fmt.Sprintf("%s %d", c, t.Classes[c]))
	}
	if classes != nil {
		text += " (" + strings.Join(classes, ", ") + ")"
	}
	return text
}
