package mcp

import (
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/tool"
)

// issueList is the structured content of a result that [Serve] gives where the model is to be asked again.
type issueList struct {
	Issues []fault.Issue `json:"issues"`
}

// outcome is the word that an isError result amounts to; nil where the result is good.
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

// broke is an error that a tool of retake's own returned on its server.
func (r *remote) broke(res *sdk.CallToolResult) error {
	class := fault.Class(metaText(res.Meta, MetaClass))
	if !class.InTransport() {
		class = fault.ToolExecution
	}
	return r.error(class, false, "it failed on its server with an error of its own", nil)
}

// refused is what follows an isError result that says why in its own words.
func (r *remote) refused(text string) error {
	if gone(text, r.what) {
		return r.error(fault.NotFound, false, "the server says that there is no such tool: list the tools again", nil)
	}
	// We have held the arguments to the schema that was listed; the words of a validator on the server are
	// not for models.
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

// gone reports whether a text is that of an SDK's server which has no tool of the name.
func gone(text, name string) bool {
	text = strings.TrimPrefix(strings.TrimSpace(text), "MCP error -32602: ")
	return text == "Tool "+name+" not found" || text == "Unknown tool: "+name
}

// maxLooked is how much of a text is looked at, in bytes: more than is ever told.
const maxLooked = 4096

// textOf is the beginning of the text of a result, its blocks by line.
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

// issues reads the issues of a result of [Serve]; nil where there are none, or more than a result may be.
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
