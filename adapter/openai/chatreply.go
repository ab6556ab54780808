package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/openai/openai-go/v3"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// chatFinishes maps finish reasons. Any other counts as "not said".
var chatFinishes = map[string]message.FinishReason{
	"stop": message.Stop, "length": message.Length, "tool_calls": message.ToolUse, "function_call": message.ToolUse,
	"content_filter": message.ContentFilter, "model_length": message.Length, "sensitive": message.ContentFilter,
}

// failures maps the finish reasons of unfinished replies to error codes: those of OpenRouter, vLLM,
// SGLang, DeepSeek and Zhipu.
var failures = map[string]string{
	"error": "server_error", "abort": "server_error", "insufficient_system_resource": "overloaded", "network_error": "server_error",
}

// chatReply reads one response of the Chat Completions API.
type chatReply struct {
	// names maps shortened names of tools to the registered ones.
	names map[string]string
	echo  []string
	// takesID reports whether another conversation could have an id.
	takesID func(string) bool
	from    origin
	parts   chatParts
	// told is set if somebody wants the extras.
	told   bool
	extras chatExtras
}

func (r *chatReply) extra() kit.Extras { return r.extras.all() }

// collect takes the extras of a reply or an event.
func (r *chatReply) collect(doc []byte, message string) {
	if r.told {
		r.extras.take(doc, message)
	}
}

// chatParts collects a reply.
type chatParts struct {
	text, refusal strings.Builder
	thinking      strings.Builder
	// textPieces, thoughtPieces and refusalPieces read the pieces of each.
	textPieces, thoughtPieces, refusalPieces pieceReader
	// inContent is set if thoughts came as parts of the content (Mistral): they go back the same way.
	inContent bool
	calls     []*callParts
	// at maps an index of the stream to its latest call.
	at      map[int64]int
	finish  string
	usage   message.Usage
	model   string
	id      string
	message pieces
}

// callParts collects a call.
type callParts struct {
	id, name  string
	arguments strings.Builder
	pieces    pieceReader
	kept      pieces
}

// readBody reads a response that is no stream.
func (r *chatReply) readBody(body []byte) (message.Reply, error) {
	if tellsError(body) {
		return message.Reply{}, reportedError(body)
	}
	var doc sdk.ChatCompletion
	if json.Unmarshal(body, &doc) != nil {
		return message.Reply{}, invalid("the reply is not the JSON that the API promises")
	}
	if len(doc.Choices) == 0 {
		return message.Reply{}, invalid("the reply has no choice")
	}
	r.collect(body, "message")
	choice := doc.Choices[0]
	p := &r.parts
	p.model, p.id, p.usage, p.finish = doc.Model, doc.ID, chatUsage(doc.Usage), choice.FinishReason
	p.text.WriteString(textOf(choice.Message.JSON.Content.Raw()))
	p.think(choice.Message.JSON.Content.Raw(), choice.Message.RawJSON())
	p.refusal.WriteString(choice.Message.Refusal)
	p.message.pick(choice.Message.RawJSON(), r.echo)
	for _, c := range choice.Message.ToolCalls {
		part := &callParts{id: c.ID, name: c.Function.Name}
		part.kept.pick(c.RawJSON(), r.echo)
		part.arguments.WriteString(c.Function.Arguments)
		p.calls = append(p.calls, part)
	}
	return r.reply()
}

// event reads one chunk. No chunk is known to be the last: usage comes after the finish reason.
func (r *chatReply) event(data []byte, tell func(loop.Delta)) (bool, error) {
	p := &r.parts
	isError := tellsError(data)
	if isError && chatFinishes[p.finish] != message.Length {
		return false, reportedError(data)
	}
	var chunk sdk.ChatCompletionChunk
	if json.Unmarshal(data, &chunk) != nil {
		return false, invalid("an event of the stream is not the JSON that the API promises")
	}
	p.model, p.id = cmp.Or(chunk.Model, p.model), cmp.Or(chunk.ID, p.id)
	if chunk.JSON.Usage.Valid() {
		p.usage = chatUsage(chunk.Usage)
	} else if usage, there := ownUsage(data); there {
		p.usage = chatUsage(usage)
	}
	if isError {
		return true, nil // OpenRouter says once more that the reply was cut off
	}
	if isWhole(data) {
		return true, r.whole(data, tell)
	}
	r.collect(data, "delta")
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		p.finish = cmp.Or(choice.FinishReason, p.finish)
		r.delta(choice.Delta, tell)
	}
	return false, nil
}

// isWhole reports whether an event of a stream is a whole reply: it has a message and no delta.
func isWhole(event []byte) bool {
	var doc struct {
		Choices []struct{ Message, Delta json.RawMessage }
	}
	return bytes.Contains(event, []byte(`"message"`)) && json.Unmarshal(event, &doc) == nil && len(doc.Choices) > 0 &&
		doc.Choices[0].Message != nil && doc.Choices[0].Delta == nil
}

// whole reads a whole reply in place of a stream.
func (r *chatReply) whole(event []byte, tell func(loop.Delta)) error {
	r.parts = chatParts{}
	reply, err := r.readBody(event)
	if err != nil {
		return err
	}
	r.parts.finish = cmp.Or(r.parts.finish, "stop")
	kit.TellWhole(reply, tell)
	return nil
}

func (r *chatReply) delta(d sdk.ChatCompletionChunkChoiceDelta, tell func(loop.Delta)) {
	p := &r.parts
	p.refusal.WriteString(p.refusalPieces.Add(json.RawMessage(d.JSON.Refusal.Raw())))
	p.message.pick(d.RawJSON(), r.echo)
	text, thought := p.textPieces.piece(d.JSON.Content.Raw(), textOf), p.think(d.JSON.Content.Raw(), d.RawJSON())
	if p.text.WriteString(text); text+thought != "" {
		tell(loop.Delta{Text: text, Thinking: thought, Call: -1})
	}
	for _, c := range d.ToolCalls {
		n := p.place(c)
		part := p.calls[n]
		part.kept.pick(c.RawJSON(), r.echo)
		other := func(string) string { return c.Function.Arguments }
		told := loop.Delta{Call: n, Arguments: part.pieces.piece(c.Function.JSON.Arguments.Raw(), other)}
		part.arguments.WriteString(told.Arguments)
		if part.name == "" {
			part.name = c.Function.Name
			told.Name = r.registered(part.name)
		}
		if told.Name != "" || told.Arguments != "" {
			tell(told)
		}
	}
}

// pieceReader reads the pieces of a text.
type pieceReader struct{ kit.Pieces }

// piece reads a piece: a JSON string, or by other if it is none.
func (r *pieceReader) piece(raw string, other func(string) string) string {
	if strings.HasPrefix(raw, `"`) {
		return r.Add(json.RawMessage(raw))
	}
	return other(raw)
}

// textOf returns the text of content: a string, or the text parts of a list. Thoughts are no part of the
// answer.
func textOf(content string) string {
	raw := json.RawMessage(content)
	if text, ok := kit.ReadText(raw); ok {
		return text
	}
	var b strings.Builder
	for _, item := range kit.Items(raw) {
		if part, _ := kit.ReadObject(item); part.Text("type") == "text" {
			b.WriteString(part.Text("text"))
		}
	}
	return b.String()
}

// thoughts are the members in which servers put what the model thought. Some use several.
type thoughts struct {
	// Content is DeepSeek's, Reasoning OpenRouter's and Groq's.
	Content   json.RawMessage `json:"reasoning_content"`
	Reasoning json.RawMessage `json:"reasoning"`
	// Details are OpenRouter's and Snowflake's.
	Details []struct{ Text, Summary string } `json:"reasoning_details"`
}

// think collects the thoughts of a message, or of a piece of one, and returns them.
func (p *chatParts) think(content, message string) (thought string) {
	for _, item := range kit.Items([]byte(content)) {
		if part, _ := kit.ReadObject(item); part.Text("type") == "thinking" {
			thought, p.inContent = thought+textOf(string(part.Get("thinking"))), true
		}
	}
	if thought == "" {
		var t thoughts
		_ = json.Unmarshal([]byte(message), &t) // what cannot be read is not said
		said := t.Content
		if kit.Text(said) == "" {
			said = t.Reasoning
		}
		if thought = p.thoughtPieces.Add(said); thought == "" && kit.Text(said) == "" {
			for _, d := range t.Details {
				thought += cmp.Or(d.Text, d.Summary)
			}
		}
	}
	p.thinking.WriteString(thought)
	return thought
}

// place returns the call that a piece belongs to. A new index begins a call. So does a new id with a name,
// because some servers give every call the same index. A new id alone does not: some servers change it after
// the first piece.
func (p *chatParts) place(c sdk.ChatCompletionChunkChoiceDeltaToolCall) int {
	n, known := p.at[c.Index]
	if known && (c.ID == "" || c.ID == p.calls[n].id || p.calls[n].id == "" || c.Function.Name == "") {
		p.calls[n].id = cmp.Or(p.calls[n].id, c.ID)
		return n
	}
	if p.at == nil {
		p.at = map[int64]int{}
	}
	n = len(p.calls)
	p.at[c.Index] = n
	p.calls = append(p.calls, &callParts{id: c.ID})
	return n
}

// ended returns the reply at the end of a stream. The stream must have given a finish reason. Some servers
// only mark the end: then there must be a text or calls with complete arguments.
func (r *chatReply) ended(done bool) (message.Reply, error) {
	if r.parts.finish == "" && !(done && r.parts.complete()) {
		return message.Reply{}, kit.ErrEnded
	}
	return r.reply()
}

// complete reports whether there is a text, or calls with complete arguments.
func (p *chatParts) complete() bool {
	cut := func(c *callParts) bool { return c.arguments.Len() > 0 && !kit.IsStrict([]byte(c.arguments.String())) }
	return p.text.Len()+p.refusal.Len()+len(p.calls) > 0 && !slices.ContainsFunc(p.calls, cut)
}

func (r *chatReply) reply() (message.Reply, error) {
	p := &r.parts
	if code := failures[p.finish]; code != "" {
		return message.Reply{}, unfinished(code, fmt.Sprintf("finish reason %q", p.finish))
	}
	reply := message.Reply{
		Text: p.text.String(), Refusal: p.refusal.String(), Finish: chatFinishes[p.finish], Usage: p.usage,
		Model: p.model, Thinking: p.thinking.String(), Source: message.Source{ID: p.id, Finish: p.finish},
	}
	k := kept{origin: r.from, Message: p.message.join()}
	if p.inContent {
		k.Thinking = reply.Thinking
	}
	for _, c := range p.calls {
		reply.Calls = append(reply.Calls, message.Call{ID: c.id, Name: r.registered(c.name),
			Arguments: c.arguments.String()})
		k.Calls = append(k.Calls, c.kept.join())
		k.OwnIDs = k.OwnIDs || !r.takesID(c.id)
	}
	kit.NameCalls(reply.Calls)
	if len(reply.Calls) > 0 && reply.Finish == message.Stop {
		reply.Finish = message.ToolUse
	}
	reply.Opaque = k.opaque()
	return reply, nil
}

func (r *chatReply) registered(name string) string { return cmp.Or(r.names[name], name) }

// chatUsage converts the counts. Input includes the cached tokens.
func chatUsage(u sdk.CompletionUsage) message.Usage {
	return message.Usage{
		InputTokens: max(u.PromptTokens, 0), OutputTokens: max(u.CompletionTokens, 0),
		CacheReadTokens:  max(cmp.Or(u.PromptTokensDetails.CachedTokens, ownCached(u)), 0),
		CacheWriteTokens: max(u.PromptTokensDetails.CacheWriteTokens, 0),
		ReasoningTokens:  max(u.CompletionTokensDetails.ReasoningTokens, 0),
	}
}

// ownCached returns the count of cached tokens of servers that put it elsewhere: Moonshot, Mistral, DeepSeek.
func ownCached(u sdk.CompletionUsage) int64 {
	var own struct {
		Moonshot int64 `json:"cached_tokens"`
		Mistral  int64 `json:"num_cached_tokens"`
		DeepSeek int64 `json:"prompt_cache_hit_tokens"`
	}
	_ = json.Unmarshal([]byte(u.RawJSON()), &own) // what cannot be read is not said
	return cmp.Or(own.Moonshot, own.Mistral, own.DeepSeek)
}

// ownUsage returns the usage of a stream of servers that put it elsewhere: Groq, and Moonshot in the choice.
func ownUsage(chunk []byte) (sdk.CompletionUsage, bool) {
	var own struct {
		Groq    struct{ Usage *sdk.CompletionUsage } `json:"x_groq"`
		Choices []struct{ Usage *sdk.CompletionUsage }
	}
	if !bytes.Contains(chunk, []byte(`"usage"`)) || json.Unmarshal(chunk, &own) != nil {
		return sdk.CompletionUsage{}, false
	}
	usage := own.Groq.Usage
	for _, c := range own.Choices {
		usage = cmp.Or(usage, c.Usage)
	}
	if usage == nil {
		return sdk.CompletionUsage{}, false
	}
	return *usage, true
}

// tellsError reports whether a body has an error in place of a reply, or within its choice.
func tellsError(body []byte) bool {
	var doc struct {
		Object  json.RawMessage
		Error   json.RawMessage
		Choices []struct{ Error json.RawMessage }
	}
	if json.Unmarshal(body, &doc) != nil {
		return false
	}
	if kit.IsError(doc.Error) || kit.Text(doc.Object) == "error" {
		return true
	}
	for _, c := range doc.Choices {
		if kit.IsError(c.Error) {
			return true
		}
	}
	return false
}
