package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// corpusLine is one line of a corpus: a question with tools, and what models replied to it. Other members are
// passed over.
type corpusLine struct {
	ID       string          `json:"id"`
	Question json.RawMessage `json:"question"`
	Tools    []toolSpec      `json:"tools"`
	Replies  []corpusReply   `json:"replies"`
	// Ladder has indexes of Replies.
	Ladder []int `json:"ladder"`
}

type corpusReply struct {
	Text  string `json:"text"`
	Calls []struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"tool_calls"`
}

// question is a line that was read and found usable.
type question struct {
	id      string
	prompt  string
	tools   *tool.Set
	replies []message.Reply
	ladder  []int
}

// rawLine is a line before it is looked at.
type rawLine struct {
	file   string
	number int
	text   []byte
}

// openCorpus opens the file of -corpus.
func openCorpus(path string) (*os.File, error) {
	return openNamed("-corpus", path, "give a file with one question a line, as JSON")
}

// lineShape says what a line of a corpus looks like.
const lineShape = `{"id", "question", "tools": [{"name", "description", "parameters"}], ` +
	`"replies": [{"text", "tool_calls": [{"name", "arguments"}]}], "ladder"}`

// lines yields the lines of a corpus that are not blank, in order; limit bounds their number where it is
// above 0. An error is the last thing it yields; a corpus without a line is one.
func lines(file string, r io.Reader, limit int) iter.Seq2[rawLine, error] {
	return func(yield func(rawLine, error) bool) {
		in := bufio.NewScanner(r)
		in.Buffer(nil, maxInput)
		number, given := 0, 0
		for (limit == 0 || given < limit) && in.Scan() {
			number++
			if len(bytes.TrimSpace(in.Bytes())) == 0 {
				continue
			}
			given++
			if !yield(rawLine{file, number, bytes.Clone(in.Bytes())}, nil) {
				return
			}
		}
		err := in.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("%s:%d: the line has more than %d MiB, which is the most that is read", file, number+1, maxInput>>20)
		}
		if err == nil && given == 0 {
			err = fmt.Errorf("%s: there is no question in it: give one a line, as JSON", file)
		}
		if err != nil {
			yield(rawLine{}, err)
		}
	}
}

// parse reads a line. Its errors name file and line.
func (l rawLine) parse() (question, error) {
	q, err := parseQuestion(mendHalves(bytes.TrimPrefix(l.text, []byte("\ufeff"))))
	if err != nil {
		return question{}, fmt.Errorf("%s:%d: %w", l.file, l.number, err)
	}
	return q, nil
}

func parseQuestion(text []byte) (question, error) {
	var line corpusLine
	if err := canon.Unmarshal(text, &line); err != nil {
		return question{}, fmt.Errorf("%w; a line of a corpus is %s, with arguments as text", err, lineShape)
	}
	if line.ID == "" {
		return question{}, errors.New(`id is missing: give the question a name`)
	}
	set, err := toolSet(line.Tools)
	if err != nil {
		return question{}, err
	}
	if line.Replies == nil {
		return question{}, errors.New(`replies are missing: give a list of them`)
	}
	q := question{id: line.ID, prompt: promptOf(line.Question), tools: set, ladder: line.Ladder, replies: make([]message.Reply, len(line.Replies))}
	for n, r := range line.Replies {
		q.replies[n] = r.reply()
	}
	for n, at := range line.Ladder {
		if at < 0 || at >= len(line.Replies) {
			return question{}, fmt.Errorf("ladder[%d]: %d is no index of the list of %s, which counts from 0", n, at,
				several.Of(len(line.Replies), "reply", "replies"))
		}
	}
	return q, nil
}

// promptOf is the question as a user says it: its text, or its JSON where it is no string.
func promptOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func (r corpusReply) reply() message.Reply {
	reply := message.Reply{Text: r.Text}
	for n, c := range r.Calls {
		reply.Calls = append(reply.Calls, message.Call{ID: fmt.Sprintf("call-%d", n+1), Name: c.Name, Arguments: c.Arguments})
	}
	return reply
}

// script is what the model of a session answers, attempt by attempt.
func (q question) script() []message.Reply {
	if len(q.ladder) == 0 {
		return q.replies
	}
	script := make([]message.Reply, len(q.ladder))
	for n, at := range q.ladder {
		script[n] = q.replies[at]
	}
	return script
}
