package adk

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/retake-go/retake/fault"
	retake "github.com/retake-go/retake/message"
)

type message = retake.Message

var finishes = map[genai.FinishReason]retake.FinishReason{
	genai.FinishReasonStop: retake.Stop, genai.FinishReasonMaxTokens: retake.Length,
	genai.FinishReasonSafety: retake.ContentFilter, genai.FinishReasonRecitation: retake.ContentFilter,
	genai.FinishReasonLanguage: retake.ContentFilter, genai.FinishReasonBlocklist: retake.ContentFilter,
	genai.FinishReasonProhibitedContent: retake.ContentFilter, genai.FinishReasonSPII: retake.ContentFilter,
	genai.FinishReasonImageSafety: retake.ContentFilter,
}

// reply converts a response of ADK; nil gives an empty reply.
func reply(resp *model.LLMResponse) retake.Reply {
	r := retake.Reply{Usage: retake.Usage{APICalls: 1}}
	if resp == nil {
		return r
	}
	r.Text, r.Model = textOf(resp.Content), resp.ModelVersion
	for _, c := range functionCalls(resp.Content) {
		r.Calls = append(r.Calls, retake.Call{ID: c.ID, Name: c.Name, Arguments: argumentsOf(c.Args)})
	}
	if resp.Content != nil {
		for _, p := range resp.Content.Parts {
			if p != nil && p.Thought {
				r.Thinking += p.Text
			}
		}
	}
	r.Finish, r.Source.Finish = finishes[resp.FinishReason], string(resp.FinishReason)
	if r.Finish == "" {
		r.Finish = finishes[genai.FinishReason(resp.ErrorCode)]
	}
	if u := resp.UsageMetadata; u != nil {
		r.Usage.InputTokens = int64(u.PromptTokenCount) + int64(u.ToolUsePromptTokenCount)
		r.Usage.OutputTokens = int64(u.CandidatesTokenCount) + int64(u.ThoughtsTokenCount)
		r.Usage.ReasoningTokens = int64(u.ThoughtsTokenCount)
		r.Usage.CacheReadTokens = int64(u.CachedContentTokenCount)
	}
	return r
}

func functionCalls(c *genai.Content) []*genai.FunctionCall {
	var calls []*genai.FunctionCall
	if c == nil {
		return nil
	}
	for _, p := range c.Parts {
		if p != nil && p.FunctionCall != nil {
			calls = append(calls, p.FunctionCall)
		}
	}
	return calls
}

func argumentsOf(args map[string]any) string {
	if len(args) == 0 {
		return "{}"
	}
	doc, err := json.Marshal(args)
	if err != nil {
		return ""
	}
	return string(doc)
}

// textOf returns the text of a content without its thoughts. Other parts get a placeholder, so that a
// reply of them alone is not empty.
func textOf(c *genai.Content) string {
	if c == nil {
		return ""
	}
	text := ""
	for _, p := range c.Parts {
		switch {
		case p == nil || p.Thought:
		case p.Text != "":
			text += p.Text
		case p.InlineData != nil || p.FileData != nil || p.ExecutableCode != nil ||
			p.CodeExecutionResult != nil:
			text += "[data]"
		}
	}
	return text
}

// saidBefore converts the conversation that a run begins with.
func saidBefore(contents []*genai.Content) []message {
	var said []message
	for _, c := range contents {
		if c == nil {
			continue
		}
		m := message{Role: retake.User}
		if m.Text, m.Parts = userText(c); c.Role == genai.RoleModel {
			m = message{Role: retake.Assistant, Text: textOf(c),
				Calls: reply(&model.LLMResponse{Content: c}).Calls}
		}
		for _, p := range c.Parts {
			if p != nil && p.FunctionResponse != nil {
				said = append(said, message{Role: retake.Tool, CallID: p.FunctionResponse.ID,
					Name:  p.FunctionResponse.Name,
					Text:  argumentsOf(p.FunctionResponse.Response),
					Parts: resultParts(p.FunctionResponse.Parts)})
			}
		}
		if m.Text != "" || len(m.Parts)+len(m.Calls) > 0 {
			said = append(said, m)
		}
	}
	return said
}

// answered returns a conversation in which each call has an answer, also one whose invocation ended before
// it. Models would take that for a call that was not made, and providers refuse the conversation.
func answered(contents []*genai.Content) []*genai.Content {
	const lost = "No result is known. The effect of this call may or may not have happened."
	for n, c := range slices.Backward(contents) {
		made := functionCalls(c)
		after := contents[n+1 : min(n+2, len(contents))]
		open := unanswered(made, after)
		if len(open) == 0 {
			continue
		}
		results := &genai.Content{Role: genai.RoleUser}
		if len(open) == len(made) {
			after = nil // it has none of the answers
		}
		for _, has := range after {
			results.Parts = slices.Clone(has.Parts)
		}
		for _, f := range open {
			results.Parts = append(results.Parts, &genai.Part{
				FunctionResponse: &genai.FunctionResponse{ID: f.ID, Name: f.Name, Response: response(lost)}})
		}
		contents = slices.Replace(slices.Clone(contents), n+1, n+1+len(after), results)
	}
	return contents
}

// unanswered are the calls that have no response in the contents after them.
func unanswered(calls []*genai.FunctionCall, after []*genai.Content) []*genai.FunctionCall {
	for _, r := range responses(after) {
		answered := func(f *genai.FunctionCall) bool { return f.ID == r.ID && f.Name == r.Name }
		if at := slices.IndexFunc(calls, answered); at >= 0 {
			calls = slices.Concat(calls[:at], calls[at+1:])
		}
	}
	return calls
}

func responses(contents []*genai.Content) (all []*genai.FunctionResponse) {
	for _, c := range contents {
		if c == nil {
			continue
		}
		for _, p := range c.Parts {
			if p != nil && p.FunctionResponse != nil {
				all = append(all, p.FunctionResponse)
			}
		}
	}
	return all
}

// shown returns a content without the calls after the first ones, which the core does not show.
func shown(c *genai.Content, calls int) *genai.Content {
	if len(functionCalls(c)) <= calls {
		return c
	}
	cut := *c
	cut.Parts = nil
	for _, p := range c.Parts {
		if p != nil && p.FunctionCall != nil {
			if calls--; calls < 0 {
				continue
			}
		}
		cut.Parts = append(cut.Parts, p)
	}
	return &cut
}

// askAgain returns the request after an unusable reply: with the reply, an answer to each of its calls,
// and the feedback.
func askAgain(req *model.LLMRequest, resp *model.LLMResponse, said []message) *model.LLMRequest {
	next := *req
	next.Contents = append([]*genai.Content(nil), req.Contents...)
	var answers *genai.Content
	var made []*genai.FunctionCall
	for _, m := range said {
		switch m.Role {
		case retake.Assistant:
			made = functionCalls(resp.Content)
			next.Contents = append(next.Contents, shown(resp.Content, len(m.Calls)))
		case retake.Tool:
			if answers == nil {
				answers = &genai.Content{Role: genai.RoleUser}
				next.Contents = append(next.Contents, answers)
			}
			id := made[len(answers.Parts)].ID // the core gives a call without an id one
			answer := &genai.FunctionResponse{ID: id, Name: m.Name, Response: response(m.Text)}
			answers.Parts = append(answers.Parts, &genai.Part{FunctionResponse: answer})
		default:
			next.Contents = append(next.Contents, genai.NewContentFromText(m.Text, genai.RoleUser))
		}
	}
	return &next
}

// classify classifies an error; zero leaves it to [fault.Classify]. Errors of genai come by value.
func (a *Adapter) classify(err error) fault.Failure {
	if a.custom != nil {
		if f := a.custom(err); f.Failed() {
			return f
		}
	}
	e, ok := errors.AsType[genai.APIError](err)
	if !ok {
		return fault.Failure{}
	}
	// The details were decoded from JSON, so that they have a JSON form.
	body, _ := json.Marshal(map[string]any{"error": map[string]any{
		"code": e.Code, "message": e.Message, "status": e.Status, "details": e.Details,
	}})
	return fault.Classify(fault.Response{
		Provider: "gemini", Status: e.Code, Code: strings.ToUpper(e.Status), Message: e.Message, Body: body,
		Err: err,
	}).Failure()
}
