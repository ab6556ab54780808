package random_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest/random"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// envHashes names the file for TestHashesOfRandomRuns.
const envHashes = "RETAKE_HASHES"

// A structural change makes of every random run what there was before. This test writes a line for each run,
// with a hash of each of its parts, so that diff shows which run changed, and in which part.
func TestHashesOfRandomRuns(t *testing.T) {
	path := os.Getenv(envHashes)
	if path == "" {
		t.Skipf("set %s to a file for the hashes: see CONTRIBUTING.md", envHashes)
	}
	var mu sync.Mutex
	lines := map[uint64][]string{}
	driver := func(name string, takes func(random.Case) bool, run func(context.Context, *heard) (random.Trace, error)) random.Driver {
		return random.Driver{Name: name, Takes: takes, Run: func(ctx context.Context, w *random.World) (random.Trace, error) {
			h := listen(w)
			made, err := run(ctx, h)
			mu.Lock()
			defer mu.Unlock()
			lines[w.Case.Seed] = append(lines[w.Case.Seed], h.line(name, made))
			return made, err
		}}
	}
	random.Check(t, random.Cases(3000),
		driver("run", nil, heardRun),
		driver("redacted", nil, func(ctx context.Context, h *heard) (random.Trace, error) {
			h.w.Redact()
			return heardRun(ctx, h)
		}),
		driver("pool", func(c random.Case) bool { return isRun(c) && endsAlone(c) }, func(ctx context.Context, h *heard) (random.Trace, error) { return inPool(ctx, h.w) }),
		driver("runner", isAlone, func(ctx context.Context, h *heard) (random.Trace, error) { return byRunner(ctx, h.w) }),
		driver("attempts", isAction, func(ctx context.Context, h *heard) (random.Trace, error) { return inAttempts(ctx, h.w) }),
	)
	var all strings.Builder
	for _, seed := range slices.Sorted(maps.Keys(lines)) {
		slices.Sort(lines[seed]) // the order of the drivers is no part of the runs
		for _, line := range lines[seed] {
			fmt.Fprintf(&all, "case %d %s\n", seed, line)
		}
	}
	require.NoError(t, os.WriteFile(path, []byte(all.String()), 0o600))
}

// heard has what is heard of a run beside its trace.
type heard struct {
	w *random.World

	mu sync.Mutex
	// requests, notices and pieces are texts, in order. progress has what tools reported, which run at once.
	requests, notices, progress, pieces []string
	// results and failed are those of the runs that the test makes by itself.
	results []loop.Result
	failed  []string
}

// listen hears what the world sees of a run.
func listen(w *random.World) *heard {
	h := &heard{w: w}
	named := map[string]loop.Model{}
	for name, m := range w.Models {
		named[name] = h.hearing(m)
	}
	w.Model, w.Observer = h.hearing(w.Model), observe.ObserverFunc(h.notice)
	if len(named) > 0 {
		w.Models = named
	}
	if w.Stream != nil {
		w.Stream = func(d loop.Delta) { h.add(&h.pieces, fmt.Sprintf("%+v", d)) }
	}
	return h
}

func (h *heard) add(to *[]string, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*to = append(*to, text)
}

// hearing is a model whose requests are heard.
func (h *heard) hearing(m loop.Model) loop.Model {
	return loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
		asked := struct {
			loop.Request
			Tools, Output []string
			Stream        bool
		}{Request: req, Stream: req.Stream != nil}
		for _, tool := range req.Tools {
			asked.Tools = append(asked.Tools, tool.Name(), tool.Description(), string(tool.Parameters()))
		}
		if req.Output != nil {
			asked.Output = append(asked.Output, string(req.Output.JSON()))
		}
		text, err := json.Marshal(asked)
		if err != nil {
			return message.Reply{}, err
		}
		h.add(&h.requests, string(text))
		return m.Reply(ctx, req)
	})
}

// notice hears what observers are told. Tools that run at once report progress in any order.
func (h *heard) notice(_ context.Context, n observe.Notice) {
	failed := ""
	if n.Err != nil {
		failed = n.Err.Error()
	}
	n.Err = nil
	text := fmt.Sprintf("%+v %s", n, failed)
	if n.Kind == observe.Progressed {
		h.add(&h.progress, text)
		return
	}
	h.add(&h.notices, text)
}

// line has the hashes of a run.
func (h *heard) line(driver string, made random.Trace) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.Sort(h.progress); h.w.Case.Parallel > 1 {
		h.progress = nil
	}
	return fmt.Sprintf("%s prompts=%s trace=%s journal=%s notices=%s result=%s error=%s", driver,
		hash(h.requests), hash([]any{made.Decisions, made.Steps}), hash(h.journal()),
		hash([]any{h.notices, h.progress, h.pieces}), hash([]any{made.Result, h.results}), hash([]any{made.Err, h.failed}))
}

// journal returns the records of the journal. The notes of calls that run at once stand in any order, and so
// have other hashes; a call lands only if others wait with it, and progress is late if another call ends the
// run.
func (h *heard) journal() []string {
	records := strings.SplitAfter(string(h.w.Store.Text(h.w.Session.ID)), "\n")
	if h.w.Case.Parallel <= 1 {
		return records
	}
	for n, r := range records {
		if _, note, ok := strings.Cut(r, `"record":{"note":`); ok {
			records[n] = note
		}
	}
	slices.Sort(records)
	return slices.DeleteFunc(records, func(r string) bool {
		return strings.Contains(r, `"kind":"landed"`) || strings.Contains(r, `"kind":"progress"`)
	})
}

func hash(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:12]
}

// heardRun makes the runs with loop.Run or loop.Do, and hears all of their results.
func heardRun(ctx context.Context, h *heard) (t random.Trace, err error) {
	return each(ctx, h.w, func(s *session.Session, in loop.Input) error {
		var result loop.Result
		var err error
		if h.w.Case.Action != nil {
			result.Value, err = loop.Do(ctx, s, h.w.Case.Action, h.w.Try, h.w.Options()...)
		} else {
			result, err = fixture.Run(ctx, h.w.Model, s, in, h.w.Config, h.w.Options()...)
		}
		h.results = append(h.results, result)
		if err != nil {
			h.failed = append(h.failed, err.Error())
		}
		h.w.Ended(result, err)
		return nil
	})
}
