package temporal_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/proto"

	"github.com/retake-go/retake/adapter/temporal"
)

// upTo copies a history up to the worker's first task after an event of that type.
func upTo(t *testing.T, h *historypb.History, typ enumspb.EventType) *historypb.History {
	t.Helper()
	own := proto.CloneOf(h)
	for n, e := range own.Events {
		if e.GetEventType() != typ {
			continue
		}
		for m := n; m < len(own.Events); m++ {
			if own.Events[m].GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED {
				own.Events = own.Events[:m+1]
				return own
			}
		}
	}
	require.Fail(t, "the history has no such event", "%s", typ)
	return nil
}

// replaced replaces a text in all payloads of a history.
func replaced(t *testing.T, h *historypb.History, was, now string) {
	t.Helper()
	found := 0
	payloads := func(p *commonpb.Payloads) {
		for _, one := range p.GetPayloads() {
			found += bytes.Count(one.Data, []byte(was))
			one.Data = bytes.ReplaceAll(one.Data, []byte(was), []byte(now))
		}
	}
	for _, e := range h.Events {
		payloads(e.GetWorkflowExecutionStartedEventAttributes().GetInput())
		payloads(e.GetMarkerRecordedEventAttributes().GetDetails()["data"])
	}
	require.Positive(t, found, was)
}

// If the code changes while a run waits, the run stops at its wake-up, before it does anything. The error
// has both decisions in the words of a journal's replay. Another seed or text in the history stands in for
// other code.
func TestCodeThatWasChangedInAWaitIsFoundAtTheWakeUp(t *testing.T) {
	first := kept(t)["all_there_is"][0]
	for name, tt := range map[string]struct {
		until    enumspb.EventType
		was, now string
		want     string
	}{
		"delays": {
			enumspb.EVENT_TYPE_TIMER_FIRED, `"seed":"history"`, `"seed":"another"`,
			"event 3 (call_failed), transport attempt 1 of 4: /effects/0/decision/delay_ns: ",
		},
		"verdicts": {
			enumspb.EVENT_TYPE_TIMER_FIRED, `"max_turns":100`, `"max_turns":100,"transport":{"max_attempts":1}`,
			`recorded was "send it again: overloaded at transport attempt 1 of 4 (backoff)", now it is "give up: overloaded at transport attempt 1 of 1 (`,
		},
		"words": {
			enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, `When does the tide turn?"}]},"event"`, `When does it turn?"}],"prompt":""},"event"`,
			"event 1 (started), attempt 1 of 3: /said/0/text: \"When does it turn?\" -> \"When does the tide turn?\"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := upTo(t, first, tt.until)
			require.NoError(t, temporal.Export{}.Replay([]*historypb.History{h}))
			replaced(t, h, tt.was, tt.now)
			if name == "words" {
				replaced(t, h, firstDigest(t, h), "0000000000000000")
			}
			err := temporal.Export{}.Replay([]*historypb.History{h})
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

// firstDigest is the digest of the first step in the history.
func firstDigest(t *testing.T, h *historypb.History) string {
	t.Helper()
	for _, e := range h.Events {
		for _, p := range e.GetMarkerRecordedEventAttributes().GetDetails()["data"].GetPayloads() {
			var trail struct {
				Digest string `json:"digest"`
			}
			if json.Unmarshal(p.Data, &trail) == nil && trail.Digest != "" {
				return trail.Digest
			}
		}
	}
	require.Fail(t, "the history has no trail")
	return ""
}
