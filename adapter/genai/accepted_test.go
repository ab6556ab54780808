package genai_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

var goodName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,127}$`)

// accepts returns why the API would refuse a conversation.
func accepts(body []byte) error {
	var b struct {
		Contents []struct {
			Role  string
			Parts []struct {
				FunctionCall *struct {
					ID, Name string
					Args     map[string]any
				}
				FunctionResponse *struct {
					ID       string
					Response map[string]any
				}
			}
		}
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	last := len(b.Contents) - 1
	if last < 0 || b.Contents[0].Role != "user" || b.Contents[last].Role != "user" {
		return fmt.Errorf("it does not begin and end with the user")
	}
	ids, open, answered := map[string]bool{}, []string(nil), false
	for n, c := range b.Contents {
		var calls, answers []string
		for _, p := range c.Parts {
			if call := p.FunctionCall; call != nil {
				if ids[call.ID] || call.Args == nil || !goodName.MatchString(call.Name) {
					return fmt.Errorf("content %d: call %q: its id, arguments or name", n, call.ID)
				}
				ids[call.ID], calls = true, append(calls, call.ID)
			}
			if r := p.FunctionResponse; r != nil {
				if len(r.Response) != 1 {
					return fmt.Errorf("content %d: an answer of %d members", n, len(r.Response))
				}
				answers = append(answers, r.ID)
			}
		}
		switch {
		case len(c.Parts) == 0:
			return fmt.Errorf("content %d has no part", n)
		case !slices.Equal(open, answers):
			return fmt.Errorf("content %d: calls %v, answers %v", n, open, answers)
		case answers != nil && len(answers) != len(c.Parts):
			return fmt.Errorf("content %d: answers do not stand alone", n)
		case n > 0 && !answered && b.Contents[n-1].Role == c.Role:
			return fmt.Errorf("content %d: %s twice", n, c.Role)
		}
		open, answered = calls, answers != nil
	}
	return nil
}
