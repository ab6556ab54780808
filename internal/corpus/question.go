package corpus

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// maxLine is the most bytes of a line of a corpus.
const maxLine = 64 << 20

// Question is one line of a corpus.
type Question struct {
	// ID names the question. It is also the id of the session that [Config.Play] runs.
	ID string
	// Prompt is the text of the question, or its JSON if it is not a string.
	Prompt string
	// Tools are on offer. They cannot be run.
	Tools *tool.Set
	// Replies are the recorded replies of models.
	Replies []message.Reply
	// Ladder has the indexes of the replies that a run gets, in order; empty means all replies in their
	// order.
	Ladder []int
	// Place is the place of the line, such as "corpus.jsonl:3", for errors.
	Place string
}

// Tool describes a tool as a corpus or a file of tools does.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// line is the JSON of a question.
type line struct {
	ID       string          `json:"id"`
	Question json.RawMessage `json:"question"`
	Tools    []Tool          `json:"tools"`
	Replies  []struct {
		Text  string `json:"text"`
		Calls []struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"tool_calls"`
	} `json:"replies"`
	Ladder []int `json:"ladder"`
}

// shape shows what a line of a corpus looks like.
const shape = `{"id", "question", "tools": [{"name", "description", "parameters"}], ` +
	`"replies": [{"text", "tool_calls": [{"name", "arguments"}]}], "ladder"}`

// Read yields the questions of a corpus in order. name is the name of the corpus in errors. Blank lines and
// unknown members are skipped. An error names the line and is yielded last. A corpus without a question is an
// error, and so are two questions with one id.
func Read(name string, in io.Reader) iter.Seq2[Question, error] {
	return func(yield func(Question, error) bool) {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, maxLine)
		number, places := 0, map[string]int{}
		for lines.Scan() && lines.Err() == nil { // where the input breaks off, the last line may be half of one
			number++
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			q, err := parse(lines.Bytes())
			if first := places[q.ID]; err == nil && first > 0 {
				err = fmt.Errorf("id %q stands on line %d too: give each question an id of its own",
					q.ID, first)
			}
			q.Place = fmt.Sprintf("%s:%d", name, number)
			if err != nil {
				yield(Question{}, fmt.Errorf("%s: %w", q.Place, err))
				return
			}
			places[q.ID] = number
			if !yield(q, nil) {
				return
			}
		}
		err := lines.Err()
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			err = fmt.Errorf("%s:%d: the line has more than %d MiB, the most that is read",
				name, number+1, maxLine>>20)
		case err != nil:
			err = fmt.Errorf("%s: %w", name, err)
		case len(places) == 0:
			err = fmt.Errorf("%s: there is no question in it: give one a line, as JSON", name)
		default:
			return
		}
		yield(Question{}, err)
	}
}

// parse reads a line. Half a surrogate pair in an escape, which some models produce, is read as U+FFFD.
func parse(text []byte) (q Question, err error) {
	var l line
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if err := canon.UnmarshalMended(text, &l); err != nil {
		return q, fmt.Errorf("%w; a line of a corpus is %s, with arguments as text", err, shape)
	}
	if l.ID == "" {
		return q, errors.New("id is missing: give the question a name")
	}
	q = Question{ID: l.ID, Prompt: string(l.Question), Ladder: l.Ladder}
	q.Replies = make([]message.Reply, len(l.Replies))
	if q.Tools, err = Tools(l.Tools); err != nil {
		return q, err
	}
	if l.Replies == nil {
		return q, errors.New("replies are missing: give a list of them")
	}
	_ = json.Unmarshal(l.Question, &q.Prompt) // where it is no string, its JSON stays
	for n, r := range l.Replies {
		q.Replies[n].Text = r.Text
		for k, c := range r.Calls {
			call := message.Call{ID: fmt.Sprintf("call-%d", k+1), Name: c.Name, Arguments: c.Arguments}
			q.Replies[n].Calls = append(q.Replies[n].Calls, call)
		}
	}
	for n, at := range l.Ladder {
		if at < 0 || at >= len(l.Replies) {
			return q, fmt.Errorf("ladder[%d]: %d is no index of the list of %s, which counts from 0", n, at,
				several.Of(len(l.Replies), "reply"))
		}
	}
	return q, nil
}

// script has the replies of a run's model, in order.
func (q Question) script() []message.Reply {
	if len(q.Ladder) == 0 {
		return q.Replies
	}
	script := make([]message.Reply, len(q.Ladder))
	for n, at := range q.Ladder {
		script[n] = q.Replies[at]
	}
	return script
}

// errNotRun is the error of a tool of a corpus, which has no code.
var errNotRun = errors.New("a tool that is only described cannot be run")

func notRun(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errNotRun }

// Tools makes tools that can be checked but not run. The error names each description that cannot be used.
func Tools(described []Tool) (*tool.Set, error) {
	if len(described) == 0 {
		return nil, errors.New("no tools: give at least one")
	}
	tools := make([]*tool.Tool, len(described))
	var faults []error
	for n, d := range described {
		if d.Parameters == nil {
			err := fmt.Errorf("tools[%d]: parameters is missing: give a JSON Schema of an object", n)
			faults = append(faults, err)
			continue
		}
		t, err := tool.Raw(d.Name, d.Description, d.Parameters, notRun)
		if err != nil {
			faults = append(faults, fmt.Errorf("tools[%d]: %w", n, err))
		}
		tools[n] = t
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return tool.NewSet(tools...)
}
