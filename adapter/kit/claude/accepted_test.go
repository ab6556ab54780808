package claude_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// body is a request as the API reads it.
type body struct {
	Messages []turn  `json:"messages"`
	System   []block `json:"system"`
	Tools    []struct {
		Name        string          `json:"name"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	ToolChoice *struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
	Thinking *struct {
		Type string `json:"type"`
	} `json:"thinking"`
}

type turn struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type block struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   []block         `json:"content"`
}

var (
	idRule   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	nameRule = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
)

// accepts returns why the API would refuse a request.
func accepts(raw []byte) error {
	if faults := refusals(raw); len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	return nil
}

// refusals returns the reasons for which the API would refuse a request: documented rules, and those known
// from its errors.
func refusals(raw []byte) (faults []string) {
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	var b body
	if err := json.Unmarshal(raw, &b); err != nil || !utf8.Valid(raw) {
		return []string{fmt.Sprint("no JSON: ", err)}
	}
	refuse(len(b.Messages) == 0, "no message")
	ids, open := map[string]bool{}, []string{}
	calls := false
	later := func(m turn) bool { return m.Role == "system" }
	for n, m := range b.Messages { // new models take system messages after a turn of the user
		refuse(later(m) && (n == 0 || b.Messages[n-1].Role == "assistant"), "message %d: role system", n)
	}
	b.Messages = slices.DeleteFunc(b.Messages, later)
	for n, m := range b.Messages {
		want := []string{"user", "assistant"}[n%2]
		refuse(m.Role != want, "message %d: role %s, want %s", n, m.Role, want)
		refuse(len(m.Content) == 0, "message %d: empty", n)
		var results []string
		for k, c := range m.Content {
			at := fmt.Sprintf("message %d block %d: ", n, k)
			faults = append(faults, refusedBlock(at, m.Role, c)...)
			switch c.Type {
			case "tool_use":
				refuse(ids[c.ID], "%sid %s twice", at, c.ID)
				ids[c.ID], calls = true, true
			case "tool_result":
				refuse(k != len(results), "%sresult after other content", at)
				results = append(results, c.ToolUseID)
			}
		}
		refuse(strings.Join(results, " ") != strings.Join(open, " "), "message %d: calls %v, answers %v", n, open, results)
		open = nil
		for _, c := range m.Content {
			if c.Type == "tool_use" {
				open = append(open, c.ID)
			}
		}
	}
	refuse(len(b.Messages)%2 == 0, "the last message is the model's")
	refuse(calls && len(b.Tools) == 0, "calls and no tools")
	for n, s := range b.System {
		faults = append(faults, refusedBlock(fmt.Sprintf("system %d: ", n), "system", s)...)
	}
	return faults
}

func refusedBlock(at, role string, c block) (faults []string) {
	refuse := func(bad bool, what string) {
		if bad {
			faults = append(faults, at+what)
		}
	}
	switch c.Type {
	case "text":
		refuse(c.Text == nil || strings.TrimSpace(*c.Text) == "", "blank text")
	case "tool_use":
		refuse(role != "assistant", "a call of "+role)
		refuse(!idRule.MatchString(c.ID), "id "+c.ID)
		refuse(!nameRule.MatchString(c.Name), "name "+c.Name)
		refuse(!strings.HasPrefix(string(c.Input), "{"), "input is no object")
	case "tool_result":
		refuse(role != "user", "a result of "+role)
		refuse(c.IsError && len(c.Content) == 0, "an error without content")
		for _, within := range c.Content {
			faults = append(faults, refusedBlock(at, role, within)...)
		}
	case "thinking", "redacted_thinking":
		refuse(role != "assistant", "thoughts of "+role)
	case "":
		refuse(true, "no type")
	}
	return faults
}
