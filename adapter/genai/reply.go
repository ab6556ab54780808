package genai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	sdk "google.golang.org/genai"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// chunk is a response, or one event of a stream.
type chunk struct {
	Candidates     []*candidate    `json:"candidates"`
	PromptFeedback feedback        `json:"promptFeedback"`
	Usage          json.RawMessage `json:"usageMetadata"`
	ModelVersion   string          `json:"modelVersion"`
	ResponseID     string          `json:"responseId"`
	Error          json.RawMessage `json:"error"`
}

// feedback tells why a prompt was blocked. Some have a message alone.
type feedback struct {
	BlockReason        string `json:"blockReason"`
	BlockReasonMessage string `json:"blockReasonMessage"`
}

// reason is why the prompt was blocked; empty if it was not. The unspecified reason alone says nothing.
func (f feedback) reason() string {
	unspecified := string(sdk.BlockedReasonUnspecified)
	switch {
	case f.BlockReason != "" && f.BlockReason != unspecified && f.BlockReason != "BLOCK_REASON_UNSPECIFIED":
		return f.BlockReason
	case f.BlockReasonMessage != "":
		return unspecified
	}
	return ""
}

type candidate struct {
	Index   json.RawMessage `json:"index"`
	Content struct {
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	FinishReason  string `json:"finishReason"`
	FinishMessage string `json:"finishMessage"`
}

// usageOf converts the counts. Input includes the cached tokens, and output the thoughts.
func usageOf(raw json.RawMessage) message.Usage {
	u, _ := kit.ReadObject(raw)
	thoughts := u.Count("thoughtsTokenCount")
	in := message.Usage{InputTokens: u.Count("promptTokenCount"),
		OutputTokens: u.Count("candidatesTokenCount")}
	return in.Add(message.Usage{
		InputTokens: u.Count("toolUsePromptTokenCount"), OutputTokens: thoughts,
		CacheReadTokens: u.Count("cachedContentTokenCount"), ReasoningTokens: thoughts,
	})
}

// wirePart has the known members of a part.
type wirePart struct {
	Text      kit.Piece `json:"text"`
	Thought   bool      `json:"thought"`
	Signature string    `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
		// PartialArgs and WillContinue are of arguments in pieces.
		PartialArgs  []partialArg `json:"partialArgs"`
		WillContinue bool         `json:"willContinue"`
	} `json:"functionCall"`
}

// received collects a reply.
type received struct {
	text     strings.Builder
	thinking strings.Builder
	// textPieces and thoughtPieces read the pieces of both.
	textPieces, thoughtPieces kit.Pieces
	calls                     []message.Call
	parts                     []part
	// open are the arguments of the last call, if they come in pieces and have not ended.
	open  *grown
	usage message.Usage
	// prompt is the length of the prompt without what tools of the API read.
	prompt     int64
	model      string
	responseID string
	// began is set once there is a candidate. blocked is the reason why there is none, or no more of it.
	began   bool
	blocked string
	finish  string
	// finished is the API's message about the finish reason.
	finished string
	// last is the latest response or event.
	last   json.RawMessage
	extras kit.Extras
	// logprobs are the log probabilities of each event.
	logprobs []json.RawMessage
}

// The members of a response and of its candidate that are passed on as they came.
var (
	wholeExtras     = []string{"usageMetadata", "promptFeedback"}
	candidateExtras = []string{"groundingMetadata", "citationMetadata", "urlContextMetadata", "avgLogprobs",
		"safetyRatings"}
)

// keep takes the extras of a response, or of one event of a stream: of each the last, but all log
// probabilities.
func (g *received) keep(doc []byte) {
	g.extras.Keep(doc, wholeExtras...)
	whole, _ := kit.ReadObject(doc)
	candidates := whole.Items("candidates")
	var first kit.Object
	n := slices.IndexFunc(candidates, func(c json.RawMessage) bool {
		first, _ = kit.ReadObject(c)
		return first.Count("index") == 0
	})
	if n < 0 {
		return
	}
	g.extras.Keep(candidates[n], candidateExtras...)
	if logprobs, ok := kit.ReadObject(first.Get("logprobsResult")); ok && len(logprobs) > 0 {
		g.logprobs = append(g.logprobs, first.Get("logprobsResult"))
	}
}

// extra returns what was kept.
func (g *received) extra() kit.Extras {
	if len(g.logprobs) > 0 {
		g.extras.Set("logprobsResult", kit.JoinLists(g.logprobs))
	}
	return g.extras
}

// add adds a response, or one event of a stream, and streams it. Of several candidates, which may come in
// events of their own, it uses the one with the index 0.
func (g *received) add(c chunk, names map[string]string, tell func(loop.Delta)) error {
	g.model, g.responseID = cmp.Or(c.ModelVersion, g.model), cmp.Or(c.ResponseID, g.responseID)
	g.blocked = cmp.Or(g.blocked, c.PromptFeedback.reason())
	if u, ok := kit.ReadObject(c.Usage); ok {
		g.usage, g.prompt = usageOf(c.Usage), u.Count("promptTokenCount")
	}
	n := slices.IndexFunc(c.Candidates, func(c *candidate) bool { return c != nil && kit.Count(c.Index) == 0 })
	if n < 0 {
		return nil
	}
	first := c.Candidates[n]
	g.began = true
	g.finish, g.finished = cmp.Or(first.FinishReason, g.finish), cmp.Or(first.FinishMessage, g.finished)
	for _, raw := range first.Content.Parts {
		var p wirePart
		if json.Unmarshal(raw, &p) != nil {
			return &kit.UnreadableError{Got: "a part that is none"}
		}
		if g.inPieces(p) {
			if err := g.piece(p, names, tell); err != nil {
				return err
			}
			continue
		}
		g.part(raw, p, names, tell)
	}
	return nil
}

func (g *received) part(raw json.RawMessage, p wirePart, names map[string]string, tell func(loop.Delta)) {
	if p.Thought {
		if thought := g.thoughtPieces.Add(json.RawMessage(p.Text)); thought != "" {
			g.thinking.WriteString(thought)
			tell(loop.Delta{Call: -1, Thinking: thought})
		}
	}
	switch {
	case p.Call != nil:
		g.call(p, message.Call{ID: p.Call.ID, Arguments: kit.ArgumentText(p.Call.Args)}, names, tell)
	case p.Thought && p.Text != nil && p.Signature == "": // the API wants no thought in words back
	case p.Thought || p.Text == nil:
		if kept := withContent(raw, p); kept != nil {
			g.parts = append(g.parts, part{Raw: kept})
		}
	default:
		g.say(g.textPieces.Add(json.RawMessage(p.Text)), p.Signature, tell)
	}
}

// call adds a call, without its name.
func (g *received) call(p wirePart, made message.Call, names map[string]string, tell func(loop.Delta)) {
	made.Name = cmp.Or(names[p.Call.Name], p.Call.Name)
	tell(loop.Delta{Call: len(g.calls), Name: made.Name, Arguments: made.Arguments})
	g.calls = append(g.calls, made)
	g.parts = append(g.parts, part{Call: len(g.calls), Signature: p.Signature})
}

// withContent returns a part as it goes back; nil for none. The API refuses parts without content, but sends
// them: of such a part the signature is kept, with an empty text.
func withContent(raw json.RawMessage, p wirePart) json.RawMessage {
	o, _ := kit.ReadObject(raw)
	switch {
	case p.Text != nil || len(o.Without("text", "thought", "thoughtSignature")) > 0:
		return bytes.Clone(raw)
	case p.Signature == "":
		return nil
	}
	return o.With("text", kit.Quote("")).JSON()
}

// say adds text. A part with a signature stays separate.
func (g *received) say(text, signature string, tell func(loop.Delta)) {
	if text != "" {
		g.text.WriteString(text)
		tell(loop.Delta{Call: -1, Text: text})
	}
	if n := len(g.parts); signature == "" && n > 0 && g.parts[n-1].plainText() {
		g.parts[n-1].Text += len(text)
		return
	}
	if text != "" || signature != "" {
		g.parts = append(g.parts, part{Text: len(text), Signature: signature})
	}
}

func (p part) plainText() bool { return p.Raw == nil && p.Call == 0 && p.Signature == "" }

// reply returns the reply. asked is the model that was asked.
func (g *received) reply(asked string) message.Reply {
	finish, known := kit.Finish(g.finish, g.calls)
	switch {
	case g.blocked != "" && !g.said():
		finish = message.ContentFilter
	case !known && g.said(): // the API adds new ways to fail, not to succeed
		finish = message.Error
	}
	r := message.Reply{
		Text: g.text.String(), Thinking: g.thinking.String(), Calls: kit.NameCalls(g.calls), Finish: finish,
		Usage:  g.usage,
		Model:  cmp.Or(g.model, asked),
		Opaque: opaque{origin(asked), g.parts}.text(),
	}
	r.Usage.APICalls = 1
	if g.prompt < g.usage.InputTokens {
		r.PromptTokens = g.prompt
	}
	return r
}

// ended reports whether a stream has given a finish reason, or why there is none.
func (g *received) ended() bool { return g.blocked != "" || g.said() }

// said reports whether there is a finish reason.
func (g *received) said() bool {
	return g.finish != "" && g.finish != string(sdk.FinishReasonUnspecified)
}
