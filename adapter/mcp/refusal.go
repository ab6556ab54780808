package mcp

import (
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/tool"
)

// issueList is the structured content of a result of [Serve] that asks again.
type issueList struct {
	Issues []fault.Issue `json:"issues"`
}

// outcome returns the outcome of an isError result; nil for any other result.
func (r *remote) outcome(res *sdk.CallToolResult) error {
	if !res.IsError {
		return nil
	}
	text := textOf(res.Content)
	switch metaText(res.Meta, MetaOutcome) {
	case outcomeAskAgain:
		if issues := r.issues(res.StructuredContent); len(issues) > 0 {
			return tool.AskAgain(issues...)
		}
	case outcomeFailed:
		return tool.Fail(feedback.Quote(text))
	case outcomeBroke:
		return r.broke(res)
	}
	return r.refused(text)
}

// broke returns the error of a retake tool that failed on its server.
func (r *remote) broke(res *sdk.CallToolResult) error {
	class := fault.Class(metaText(res.Meta, MetaClass))
	if !class.InTransport() {
		class = fault.ToolExecution
	}
	return r.error(class, false, "it failed on its server with an error of its own", nil)
}

// refused returns the outcome of an isError result that gives a reason in its own words.
func (r *remote) refused(text string) error {
	if gone(text, r.what) {
		return r.error(fault.NotFound, false, "the server says that there is no such tool: list the tools again", nil)
	}
	// The arguments have passed the listed schema. The text of the server's validator is not for models.
	issues, library := validatorIssues(text)
	switch {
	case r.cfg.OnError == Fail && (library || text == ""):
		return tool.Fail("The tool failed. The same call will not help.")
	case r.cfg.OnError == Fail:
		return tool.Fail(feedback.Quote(text))
	case library:
		return tool.AskAgain(issues...)
	}
	expected := "other arguments"
	if text != "" {
		expected += `, for the tool says: "` + feedback.Quote(text) + `"`
	}
	return tool.AskAgain(fault.Issue{Rule: "refused", Expected: expected})
}

// gone reports whether a text is that of an SDK's server without such a tool.
func gone(text, name string) bool {
	text = strings.TrimPrefix(strings.TrimSpace(text), "MCP error -32602: ")
	return text == "Tool "+name+" not found" || text == "Unknown tool: "+name
}

// maxLooked bounds how much of a text is read, in bytes: more than is ever shown.
const maxLooked = 4096

// textOf returns the beginning of the text of a result, one block per line.
func textOf(content []sdk.Content) string {
	var texts []string
	left := maxLooked
	for _, b := range blocksOf(content) {
		if told := b.Text[:min(len(b.Text), left)]; told != "" {
			texts = append(texts, told)
			left -= len(told)
		}
	}
	return strings.ToValidUTF8(strings.Join(texts, "\n"), "")
}

// maxIssues bounds the issues that are taken from a result.
const maxIssues = 1000

// issues returns the issues of a result of [Serve]; nil if there are none, or too many bytes.
func (r *remote) issues(structured any) []fault.Issue {
	raw, err := encode(structured)
	if err != nil || len(raw) > r.cfg.MaxResultBytes {
		return nil
	}
	var list issueList
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list.Issues[:min(len(list.Issues), maxIssues)]
}
