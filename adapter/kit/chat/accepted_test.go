package chat_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

var (
	goodID   = regexp.MustCompile(`^[!-~]{1,40}$`)
	goodName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

// callsInOrder checks ids, names and answers of calls.
type callsInOrder struct {
	seen map[string]bool
	open []string
}

func (c *callsInOrder) call(id, name string) error {
	if c.seen[id] || !goodID.MatchString(id) || !goodName.MatchString(name) {
		return fmt.Errorf("call %q of %q: its id or name", id, name)
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[id], c.open = true, append(c.open, id)
	return nil
}

func (c *callsInOrder) answer(id, text string) error {
	if len(c.open) == 0 || c.open[0] != id || text == "" {
		return fmt.Errorf("answer %q to the calls %v: its place, or its text", id, c.open)
	}
	c.open = c.open[1:]
	return nil
}

// said checks a message that is no answer.
func (c *callsInOrder) said(empty bool) error {
	if len(c.open) > 0 || empty {
		return fmt.Errorf("a message that is empty, or before the answers to %v", c.open)
	}
	return nil
}

// content is the content of a message: a text, or parts of known types.
type content struct {
	text    string
	picture bool
}

func (c *content) UnmarshalJSON(raw []byte) error {
	if len(raw) == 0 || raw[0] != '[' {
		return json.Unmarshal(raw, &c.text)
	}
	var parts []struct {
		Type, Text string
		ImageURL   json.RawMessage `json:"image_url"`
	}
	err := json.Unmarshal(raw, &parts)
	for _, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text":
			if c.text += p.Text; p.Text == "" {
				err = errors.Join(err, errors.New("an empty part"))
			}
		case "image_url", "input_image":
			if c.picture = true; len(p.ImageURL) == 0 {
				err = errors.Join(err, errors.New("an image without its address"))
			}
		default:
			err = errors.Join(err, fmt.Errorf("a part of type %q", p.Type))
		}
	}
	return err
}

func (c *content) empty() bool { return c.text == "" && !c.picture }

// chatAccepts returns why the Chat API would refuse a conversation.
func chatAccepts(body []byte) error {
	var b struct {
		Messages []struct {
			Role       string
			Content    content
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string
				Function struct {
					Name      string
					Arguments string
				}
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	var calls callsInOrder
	spoken, err := false, error(nil)
	for _, m := range b.Messages {
		spoken = spoken || m.Role != "system"
		if m.Content.picture && m.Role != "user" {
			err = errors.Join(err, errors.New("a picture of "+m.Role))
		}
		if m.Role == "tool" {
			err = errors.Join(err, calls.answer(m.ToolCallID, m.Content.text))
			continue
		}
		err = errors.Join(err, calls.said(m.Content.empty() && len(m.ToolCalls) == 0))
		for _, c := range m.ToolCalls {
			err = errors.Join(err, calls.call(c.ID, c.Function.Name))
		}
	}
	if !spoken {
		err = errors.Join(err, errors.New("there is no message but the system's"))
	}
	return errors.Join(err, calls.said(false))
}

// responsesAccepts returns why the Responses API would refuse an input.
func responsesAccepts(body []byte) error {
	var b struct {
		Input []struct {
			Type, Role, Name string
			Content, Output  content
			CallID           string `json:"call_id"`
		}
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	var calls callsInOrder
	err := error(nil)
	for _, item := range b.Input {
		switch item.Type {
		case "function_call":
			err = errors.Join(err, calls.call(item.CallID, item.Name))
		case "function_call_output":
			err = errors.Join(err, calls.answer(item.CallID, item.Output.text))
		case "":
			err = errors.Join(err, calls.said(item.Content.empty()))
		}
	}
	if len(b.Input) == 0 {
		err = errors.New("no input")
	}
	return errors.Join(err, calls.said(false))
}
