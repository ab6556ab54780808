package mcp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// issueList is the structured content of a result of [Serve] that asks again.
type issueList struct {
	Issues []fault.Issue `json:"issues"`
}

// outcome returns the outcome of an isError result. What a server of [Serve] says of its tool counts as that
// tool's own word, from whatever server: only it knows whether its tool ran. Any other server only says that
// the call failed, which may have been after its effect.
func (r *remote) outcome(res *sdk.CallToolResult) (answer, error) {
	switch metaText(res.Meta, MetaOutcome) {
	case outcomeAskAgain:
		if issues := r.issues(res.StructuredContent); len(issues) > 0 {
			return answer{}, tool.AskAgain(issues...)
		}
	case outcomeLater:
		return answer{}, tool.TryLater(r.error(fault.Unavailable, false, "it is not ready on its server",
			nil), laterOf(res.Meta))
	case outcomeFailed:
		return r.failed(res, res.Content, tool.FailedError{Whole: res.Meta[MetaWhole] == true})
	case outcomeInDoubt: // the first block says so
		return r.failed(res, res.Content[min(len(res.Content), 1):],
			tool.FailedError{InDoubt: true, Whole: res.Meta[MetaWhole] == true})
	case outcomeBroke:
		return answer{}, r.broke(res)
	}
	if r.cfg.OnError == AskAgain {
		_, all, _ := r.media(res.Content) // feedback has no media: they are described
		if said := r.said(res, nil, all); !notOfArguments.MatchString(said) {
			return answer{}, asksAgain(said)
		}
	}
	return r.failed(res, res.Content, tool.FailedError{InDoubt: !r.readOnly, Whole: true})
}

// laterOf returns the least wait that a served tool asked for.
func laterOf(meta sdk.Meta) time.Duration {
	ms, _ := meta[MetaRetryAfter].(float64)
	if ms < 0 || ms > float64(maxLater.Milliseconds()) {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// maxLater bounds the wait that a server asks for. A policy may allow less.
const maxLater = 365 * 24 * time.Hour

// broke returns the error of a retake tool that failed on its server.
func (r *remote) broke(res *sdk.CallToolResult) error {
	class := fault.Class(metaText(res.Meta, MetaClass))
	if class.Plane() != fault.Transport {
		class = fault.ToolExecution
	}
	return r.error(class, false, "it failed on its server with an error of its own", nil)
}

// failed returns what a tool says of its failure, with its media.
func (r *remote) failed(
	res *sdk.CallToolResult, content []sdk.Content, failed tool.FailedError,
) (answer, error) {
	parts, _, left := r.media(content)
	failed.Text = r.said(res, parts, left)
	return answer{parts: parts}, &failed
}

// asksAgain asks the model for other arguments in the words of the tool.
func asksAgain(said string) error {
	expected := "other arguments"
	if said != "" {
		expected += ", for the tool says: " + feedback.Cut(said, maxAsked) // quoted where it is shown
	}
	return tool.AskAgain(fault.Issue{Rule: "refused", Expected: expected})
}

// maxAsked bounds a server's words in an issue, in bytes. Feedback shows no longer ones.
const maxAsked = 900

// notOfArguments matches the texts of SDKs that are not about the arguments: the result was not what the
// server promised, or the tool cannot be called at all.
var notOfArguments = regexp.MustCompile(`\bOutput validation error: |^validating tool output: |` +
	`\bdoes not match tool outputSchema\b|^Response missing structured content\b|` +
	`\bTool \S+ (?:not found|disabled|requires task augmentation)\b|^Unknown tool: `)

// said returns the text of an error: its blocks of text, and what its other blocks are. It is cut to
// MaxErrorBytes, and then says so.
func (r *remote) said(res *sdk.CallToolResult, parts []message.Part, blocks []block) string {
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		} else if raw, err := encode(b); err == nil {
			texts = append(texts, string(raw))
		}
	}
	said := strings.Join(texts, "\n")
	if said == "" && res.StructuredContent != nil {
		raw, _ := encode(res.StructuredContent) // without a JSON form there is nothing to say
		said = string(raw)
	}
	said = string(withoutMedia([]byte(said), res.Content, parts))
	return cut(strings.ToValidUTF8(said, "\uFFFD"), r.cfg.MaxErrorBytes)
}

// cut shortens a text of more than most bytes, and says so.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s [cut: it has %d bytes, and at most %d are shown]", feedback.Cut(text, most),
		len(text), most)
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
