package core

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
)

// inMemory is a store of one journal in a slice, so that no disk is measured.
type inMemory struct{ text []byte }

func (m *inMemory) List(context.Context) ([]string, error)            { return nil, nil }
func (m *inMemory) Open(context.Context, string) (journal.Log, error) { return m, nil }
func (m *inMemory) Replace(_ context.Context, _ int64, lines []byte) error {
	m.text = lines
	return nil
}
func (m *inMemory) Close() error { return nil }
func (m *inMemory) Read(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(m.text)), nil
}
func (m *inMemory) Append(_ context.Context, _ int64, lines []byte, _ bool) error {
	m.text = append(m.text, lines...)
	return nil
}

// wellDone is a run of a hundred good calls, corrected one of a hundred bad ones.
func wellDone(t testing.TB) recorded  { return run(t, 0, 100) }
func corrected(t testing.TB) recorded { return run(t, 100, 1) }

// write records a run in its own journal.
func write(t testing.TB, store journal.Store, r recorded) {
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{Sync: journal.SyncNever})
	if err == nil {
		err = j.Begin(journal.Header{Config: *r.before.Config}, r.before)
	}
	for i := range r.steps {
		if s := &r.steps[i]; err == nil {
			err = j.Step(s.ev, s.effects, s.after)
		}
	}
	if err == nil {
		err = j.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// records are those of the story, read from retake's own journal.
func records(t testing.TB, text []byte) []journal.Record {
	var all []journal.Record
	for r := journal.NewReader(bytes.NewReader(text)); ; {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, rec)
	}
}

// BenchmarkJournalAppend writes a run to memory as a hash chain: a header, and two records for each step.
// One operation is a run.
func BenchmarkJournalAppend(b *testing.B)         { benchmarkAppend(b, wellDone(b)) }
func BenchmarkJournalAppendFailures(b *testing.B) { benchmarkAppend(b, corrected(b)) }

func benchmarkAppend(b *testing.B, r recorded) {
	kept := &inMemory{}
	write(b, kept, r)
	all := records(b, kept.text)
	into := make([]byte, 0, 2*len(kept.text))
	for _, row := range []struct {
		name  string
		write func()
	}{
		{"floor", func() { into = appendStory(into[:0], all, byHand) }},
		{"std", func() { into = appendStory(into[:0], all, byStd) }},
		{"jsonv2", func() { into = appendStory(into[:0], all, byJSONv2) }},
		{"ours", func() { write(b, &inMemory{text: into[:0]}, r) }},
	} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				row.write()
			}
			b.ReportMetric(float64(len(all)), "records/op")
		})
	}
}

// appendStory writes lines as a journal has them: the hash of the previous one and the record, and the
// record.
func appendStory(to []byte, all []journal.Record, encode func([]byte, *journal.Record) []byte) []byte {
	var head [32]byte
	var raw []byte
	for i := range all {
		raw = encode(raw[:0], &all[i])
		h := sha256.New()
		h.Write(head[:])
		h.Write(raw)
		h.Sum(head[:0])
		to = append(to, `{"hash":"`...)
		to = hex.AppendEncode(to, head[:16])
		to = append(append(append(to, `","record":`...), raw...), "}\n"...)
	}
	return to
}

func byStd(to []byte, rec *journal.Record) []byte {
	raw, err := json.Marshal(rec)
	if err != nil {
		panic(err)
	}
	return append(to, raw...)
}

func byJSONv2(to []byte, rec *journal.Record) []byte {
	raw, err := jsonv2.Marshal(rec, jsonv2.Deterministic(true), jsonv1.FormatDurationAsNano(true), jsonv1.OmitEmptyWithLegacySemantics(true))
	if err != nil {
		panic(err)
	}
	return append(to, raw...)
}

// byHand writes only the members that the records of these runs have.
func byHand(to []byte, rec *journal.Record) []byte {
	switch {
	case rec.Event != nil:
		return append(handEvent(append(to, `{"event":{"at":"`...), rec.Event), "}}"...)
	case rec.Decision != nil:
		return append(handDecision(append(to, `{"decision":{"effects":[`...), rec.Decision), "}}"...)
	}
	return byStd(to, rec)
}

func handEvent(to []byte, ev *machine.Event) []byte {
	to = ev.At.AppendFormat(to, time.RFC3339Nano)
	to = strconv.AppendQuote(append(to, `","kind":`...), string(ev.Kind))
	if ev.Reply == nil {
		return to
	}
	to = append(to, `,"reply":{"calls":[`...)
	for i := range ev.Reply.Calls {
		c := &ev.Reply.Calls[i]
		to = strconv.AppendQuote(append(to, `{"class":`...), string(c.Class))
		to = strconv.AppendQuote(append(to, `,"id":`...), c.ID)
		to = strconv.AppendQuote(append(to, `,"tool":`...), c.Tool)
		to = strconv.AppendQuote(append(to, `,"raw":`...), c.Raw)
		to = append(append(to, `,"arguments":`...), c.Arguments...)
		to = handIssues(append(to, `,"issues":[`...), c.Issues)
		to = append(to, "]},"...)
	}
	m := &ev.Reply.Message
	to = strconv.AppendQuote(append(to, `],"message":{"text":`...), m.Text)
	for _, c := range m.Calls {
		to = strconv.AppendQuote(append(to, `,"arguments":`...), c.Arguments)
		to = strconv.AppendQuote(append(to, `,"id":`...), c.ID)
		to = strconv.AppendQuote(append(to, `,"name":`...), c.Name)
	}
	return append(to, "}}"...)
}

func handDecision(to []byte, d *journal.Decision) []byte {
	for i := range d.Effects {
		to = handEffect(to, &d.Effects[i])
	}
	to = strconv.AppendQuote(append(to, `],"prompt":`...), d.Prompt)
	to = append(to, `,"said":[`...)
	for _, m := range d.Said {
		to = strconv.AppendQuote(append(to, `{"role":`...), string(m.Role))
		to = strconv.AppendQuote(append(to, `,"call_id":`...), m.CallID)
		to = strconv.AppendQuote(append(to, `,"text":`...), m.Text)
		for _, c := range m.Calls {
			to = strconv.AppendQuote(append(to, `,"arguments":`...), c.Arguments)
			to = strconv.AppendQuote(append(to, `,"id":`...), c.ID)
			to = strconv.AppendQuote(append(to, `,"name":`...), c.Name)
		}
		to = append(to, "},"...)
	}
	return append(to, ']')
}

func handEffect(to []byte, e *machine.Effect) []byte {
	to = strconv.AppendQuote(append(to, `{"kind":`...), string(e.Kind))
	if d := e.Decision; d != nil {
		to = strconv.AppendQuote(append(to, `,"action":`...), d.Action)
		to = strconv.AppendInt(append(to, `,"attempt":`...), int64(d.Attempt), 10)
		to = strconv.AppendQuote(append(to, `,"class":`...), string(d.Class))
		to = strconv.AppendQuote(append(to, `,"reason":`...), string(d.Reason))
		to = handFeedback(append(to, `,"feedback":{`...), d.Feedback)
	}
	for i := range e.Tools {
		r := &e.Tools[i]
		to = strconv.AppendQuote(append(to, `,"id":`...), r.ID)
		to = strconv.AppendQuote(append(to, `,"tool":`...), r.Tool)
		to = strconv.AppendQuote(append(to, `,"key":`...), r.Key)
		to = append(append(to, `,"arguments":`...), r.Arguments...)
	}
	if c := e.Model; c != nil {
		to = strconv.AppendInt(append(to, `,"turn":`...), int64(c.Turn), 10)
		to = strconv.AppendInt(append(to, `,"messages":`...), int64(c.Messages), 10)
	}
	return append(to, "},"...)
}

func handFeedback(to []byte, f *feedback.RetryFeedback) []byte {
	if f == nil {
		return append(to, '}')
	}
	to = strconv.AppendQuote(append(to, `"correlation_id":`...), f.CorrelationID)
	to = strconv.AppendQuote(append(to, `,"error_type":`...), string(f.ErrorType))
	to = strconv.AppendQuote(append(to, `,"tool_name":`...), f.ToolName)
	to = strconv.AppendQuote(append(to, `,"message":`...), f.Message)
	to = strconv.AppendInt(append(to, `,"attempt":`...), int64(f.Attempt), 10)
	to = handIssues(append(to, `,"issues":[`...), f.Issues)
	to = handIssues(append(to, `],"persistent":[`...), f.Diff.Persistent)
	return append(to, "]}"...)
}

func handIssues(to []byte, issues []fault.Issue) []byte {
	for _, issue := range issues {
		to = strconv.AppendQuote(append(to, `{"expected":`...), issue.Expected)
		to = strconv.AppendQuote(append(to, `,"got":`...), string(issue.Got))
		to = strconv.AppendQuote(append(to, `,"pointer":`...), issue.Pointer)
		to = strconv.AppendQuote(append(to, `,"rule":`...), issue.Rule)
		to = append(to, "},"...)
	}
	return to
}

// BenchmarkJournalRead reads a run from memory: it verifies hashes; decodes, too; or folds the records
// through the core and compares every decision and prompt.
func BenchmarkJournalRead(b *testing.B) {
	kept := &inMemory{}
	write(b, kept, wellDone(b))
	all := records(b, kept.text)
	for _, row := range []struct {
		name string
		read func() (int, error)
	}{
		{"floor", func() (int, error) { return readByHand(kept.text, func([]byte) error { return nil }) }},
		{"std", func() (int, error) {
			return readByHand(kept.text, func(raw []byte) error { return json.Unmarshal(raw, new(journal.Record)) })
		}},
		{"jsonv2", func() (int, error) {
			return readByHand(kept.text, func(raw []byte) error {
				return jsonv2.Unmarshal(raw, new(journal.Record), jsonv1.FormatDurationAsNano(true))
			})
		}},
		{"ours_raw", func() (int, error) {
			r := journal.NewReader(bytes.NewReader(kept.text))
			return count(func() error { _, err := r.Raw(); return err })
		}},
		{"ours", func() (int, error) {
			r := journal.NewReader(bytes.NewReader(kept.text))
			return count(func() error { _, err := r.Next(); return err })
		}},
		{"ours_replay", func() (int, error) {
			report, err := journal.Replay(bytes.NewReader(kept.text), nil)
			return int(report.Lines), err
		}},
	} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n, err := row.read(); err != nil || n != len(all) {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(len(all)), "records/op")
		})
	}
}

func count(next func() error) (int, error) {
	for n := 0; ; n++ {
		if err := next(); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

// readByHand verifies the chain of a journal in memory.
func readByHand(text []byte, decode func(raw []byte) error) (int, error) {
	head := bytes.Repeat([]byte("0"), 32)
	n := 0
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); n++ {
		line := lines.Bytes()
		raw := line[len(`{"hash":"`)+32+len(`","record":`) : len(line)-1]
		h := sha256.New()
		h.Write(head)
		h.Write(raw)
		hex.Encode(head, h.Sum(nil)[:16])
		if !bytes.Equal(head, line[len(`{"hash":"`):][:32]) {
			return n, errors.New("a line is not what was written")
		}
		if err := decode(raw); err != nil {
			return n, err
		}
	}
	return n, nil
}

// The lines by hand are about as long as those of the journal, so the work is the same.
func TestTheSameWork(t *testing.T) {
	for _, r := range []recorded{wellDone(t), corrected(t)} {
		kept := &inMemory{}
		write(t, kept, r)
		all := records(t, kept.text)
		require.InEpsilon(t, len(kept.text), len(appendStory(nil, all, byHand)), 0.3)
		require.InEpsilon(t, len(kept.text), len(appendStory(nil, all, byStd)), 0.05)
		require.InEpsilon(t, len(kept.text), len(appendStory(nil, all, byJSONv2)), 0.05)
		n, err := readByHand(kept.text, func(raw []byte) error {
			return jsonv2.Unmarshal(raw, new(journal.Record), jsonv1.FormatDurationAsNano(true))
		})
		require.NoError(t, err)
		require.Equal(t, len(all), n)
	}
}
