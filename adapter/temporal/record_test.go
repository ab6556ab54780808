//go:build temporal

package temporal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/retake-go/retake/adapter/temporal"
	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// envRecord is the folder for new histories. testdata/histories has the released ones, which are never
// written again.
const envRecord = "RETAKE_RECORD"

// recording is a run whose history is kept.
type recording struct {
	script []looptest.Turn
	change func(*temporal.Worker)
	cfg    loop.Config
}

// The runs of kept histories can be made again, and replay.
func TestRecord(t *testing.T) {
	dir := os.Getenv(envRecord)
	if dir == "" {
		dir = t.TempDir()
	}
	s := newServer(t)
	c := s.dial()
	usage := message.Usage{InputTokens: 9, OutputTokens: 3, APICalls: 1}
	broken := looptest.Turn{Reply: message.Reply{Text: "The tide", Finish: "error", Usage: usage}}
	good := looptest.Turn{Reply: message.Reply{Text: "The tide turns at six.", Finish: message.Stop, Usage: usage}}
	for name, r := range map[string]recording{
		"broken_replies": {script: []looptest.Turn{broken, good}},
		"all_there_is":   allThereIs(),
	} {
		t.Run(name, func(t *testing.T) { record(t, c, dir, name, r); shown(t, s, name) })
	}
}

// allThereIs has everything that a history may contain: a reducer, an adjustment, a prompt made by code, a
// planner, waits on both planes, tools, and a second history.
func allThereIs() recording {
	visits := session.LogSlice[string]("visits")
	counted := session.On(visits, session.EventToolResult, "visits", func(_ reducer.View[string], e session.ToolResultEvent) (reducer.Change[string], error) {
		return reducer.Append(e.CallID), nil
	})
	wait := backoff.Constant(time.Second)
	call := func(n int, args string) looptest.Turn {
		return looptest.Call(message.Call{ID: fmt.Sprintf("c%d", n), Name: "tides", Arguments: args})
	}
	return recording{
		script: []looptest.Turn{
			looptest.Fail(&fault.ProviderError{Class: fault.Overloaded, Provider: "example"}),
			call(1, `{"day":"someday"}`), call(2, `{"day":1.5}`), call(3, `{"day":"x"}`),
			call(4, `{"day":2}`), call(5, `{}`), call(6, `{}`), call(7, `{}`),
			looptest.Say("Six <o'clock>."),
		},
		change: func(w *temporal.Worker) {
			w.MaxEvents = 40
			w.Session = session.Config{Slices: []session.Declared{visits}, Reducers: []session.Reducer{counted}}
			w.Tools, _ = tool.NewSet(tool.New("tides", "Says when the tide turns.", func(_ context.Context, in struct {
				Day int `json:"day"`
			}) (string, error) {
				return fmt.Sprintf("<%d>", in.Day), nil
			}))
			w.Prompt = func(_ context.Context, s session.State, _ []machine.Position) (string, []message.Message, error) {
				return fmt.Sprintf("You have asked %d times.", session.View(s, visits).Len()), nil, nil
			}
			w.Planner = planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
				return machine.Plan{Do: machine.Fallback, Prompt: "Just say when.", Warning: string(q.Failure.Class)}, nil
			})
			w.Adjust = func(s session.State) (policy.Layer, bool) {
				return policy.Layer{Backoff: &wait}, s.AttemptCount() > 1
			}
		},
		cfg: loop.Config{Seed: "history"},
	}
}

// shown is the output of the temporal command for the last run. It replays, too.
func shown(t *testing.T, s *server, name string) {
	doc, err := exec.Command(s.binary, "workflow", "show", "--address", s.address, "-w", name, "--output", "json").Output()
	require.NoError(t, err)
	history, err := client.HistoryFromJSON(bytes.NewReader(doc), client.HistoryJSONOptions{})
	require.NoError(t, err)
	require.NoError(t, temporal.Export{}.Replay([]*historypb.History{history}))
}

func record(t *testing.T, c client.Client, dir, name string, r recording) {
	w := worker.New(c, name, worker.Options{Identity: "worker"})
	own := temporal.Worker{Agent: name, Model: looptest.NewModel(r.script...)}
	if r.change != nil {
		r.change(&own)
	}
	require.NoError(t, temporal.Register(w, own))
	require.NoError(t, w.Start())
	defer w.Stop()
	h, err := temporal.Start(t.Context(), c, temporal.Options{ID: name, TaskQueue: name, Agent: name}, loop.Input{Prompt: "When does the tide turn?"}, r.cfg)
	require.NoError(t, err)
	_, err = h.Result(t.Context())
	t.Log(err)
	histories, err := temporal.Histories(t.Context(), c, name)
	require.NoError(t, err)
	require.NoError(t, temporal.Export{}.Replay(histories))
	for n, h := range histories {
		doc, err := protojson.Marshal(h)
		require.NoError(t, err)
		var tidy bytes.Buffer
		require.NoError(t, json.Indent(&tidy, doc, "", " "))
		file := name + ".json"
		if len(histories) > 1 {
			file = fmt.Sprintf("%s.%d.json", name, n+1)
		}
		host, err := os.Hostname()
		require.NoError(t, err)
		text := strings.ReplaceAll(tidy.String(), host, "host") + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
	}
	var doc, trace bytes.Buffer
	require.NoError(t, temporal.Export{}.Journal(t.Context(), histories, &doc))
	require.NoError(t, journal.Trace(bytes.NewReader(doc.Bytes()), &trace))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".trace"), trace.Bytes(), 0o644))
}
