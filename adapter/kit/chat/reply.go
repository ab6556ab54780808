package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// finishOf returns why a reply with some calls ended. Any unknown reason counts as "not said".
func finishOf(said string, calls ...message.Call) message.FinishReason {
	finish, _ := kit.Finish(said, calls)
	return finish
}

// failures maps the finish reasons of unfinished replies to error codes: those of OpenRouter, vLLM, SGLang,
// DeepSeek, Zhipu, Cohere, watsonx, Ollama and relays.
var failures = map[string]string{
	"error": "server_error", "abort": "server_error", "insufficient_system_resource": "overloaded",
	"network_error": "server_error", "error_finish": "server_error", "timeout": "server_error",
	"time_limit": "server_error", "cancelled": "server_error", "load": "server_error",
	"user_cancel": "server_error", "upstream_error": "server_error",
}

// failureOf returns the error code of a finish reason, in any case and with hyphens or without; empty for
// those of a finished reply.
func failureOf(finish string) string {
	return failures[strings.ReplaceAll(strings.ToLower(finish), "-", "_")]
}

// endOf returns why a choice ended; empty if it did not. Some servers say null by a text. OpenRouter tells
// the provider's own word beside its own, which counts if the provider failed, or could not read the reply:
// OpenRouter calls a reply that never came a "stop".
func endOf(choice kit.Object) string {
	said, native := choice.Text("finish_reason"), choice.Text("native_finish_reason")
	switch {
	case kit.Unusable(native, "") != nil, said == "stop" && failureOf(native) != "":
		return native
	case said == "null":
		return ""
	}
	return said
}

func (m *Model) chatCodec(req loop.Request) codec {
	return &chatReply{wireNames: namesOf(req.Tools), echo: m.echo, takesID: m.takesID, from: m.origin(),
		most: kit.Least(m.cfg.MaxTokens, req.MaxOutputTokens), told: m.cfg.OnResponse != nil}
}

// chatReply reads one response of the Chat Completions API.
type chatReply struct {
	wireNames
	echo []string
	// takesID reports whether another conversation could have an id.
	takesID func(string) bool
	from    kit.Origin
	// most is the bound of the reply in tokens; 0 for none.
	most  int64
	parts chatParts
	// odd is the latest event of a stream that is no part of a reply, if no part came after it.
	odd json.RawMessage
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
	// textPieces, thoughtPieces, refusalPieces and spokenPieces read the pieces of each.
	textPieces, thoughtPieces, refusalPieces, spokenPieces pieceReader
	// written is set if a text came that is not only spoken.
	written bool
	// inTags is set while a thought in the text is open.
	inTags bool
	// inContent is set if thoughts came as parts of the content (Mistral): they go back the same way, with
	// their signature.
	inContent bool
	signature string
	calls     []*callParts
	at        map[callKey]int
	// latest is the call of the latest piece.
	latest  int
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
	// latest is the latest piece of the arguments; goesOn is set once one has not repeated the one before.
	latest string
	goesOn bool
	pieces pieceReader
	kept   pieces
	extent extent
	// custom is set for a call of a custom tool, whose arguments are a text of any form.
	custom bool
}

// readBody reads a response that is no stream.
func (r *chatReply) readBody(body []byte) (message.Reply, error) {
	doc, ok := kit.ReadObject(body)
	if !ok || !json.Valid(body) {
		return message.Reply{}, kit.NoReply(body, invalid("the reply is not the JSON that the API promises"))
	}
	choices := listed(doc.Get("choices"))
	switch {
	case tellsError(doc, choices):
		return message.Reply{}, reportedError(body)
	case len(choices) == 0:
		return message.Reply{}, kit.NoReply(body, invalid("the reply has no choice"))
	}
	r.collect(body, "message")
	choice := choices[0]
	said := choice.Object("message")
	p := &r.parts
	p.model, p.id, p.usage, p.finish = doc.Text("model"), doc.Text("id"), usageOf(doc.Get("usage"), r.from.Model),
		endOf(choice)
	text, _ := p.divide(said, contentOf(said.Get("content")))
	p.text.WriteString(cmp.Or(text, said.Object("audio").Text("transcript")))
	p.think(said)
	p.refusal.WriteString(said.Text("refusal") + refusalIn(said))
	p.message.pick(unflagged(said), r.echo)
	for _, call := range callsIn(choices) {
		function := functionOf(call)
		part := &callParts{id: call.Text("id"), name: function.Text("name"), custom: isCustom(call)}
		part.kept.pick(call, r.echo)
		part.add(kit.ArgumentText(function.Get("arguments")))
		p.calls = append(p.calls, part)
	}
	return r.reply()
}

// callsIn returns the calls of the first choice. If it says that it calls and has no call, they are those of
// the other choices: GitHub Copilot tells the text of Claude and each of its calls in one of its own.
func callsIn(choices []kit.Object) []kit.Object {
	calls := callsOf(choices[0].Object("message"))
	if len(calls) > 0 || finishOf(endOf(choices[0])) != message.ToolUse {
		return calls
	}
	for _, choice := range choices[1:] {
		calls = append(calls, callsOf(choice.Object("message"))...)
	}
	return calls
}

// event reads one chunk. No chunk is known to be the last: usage comes after the finish reason.
func (r *chatReply) event(data []byte, tell func(loop.Delta)) (bool, error) {
	p := &r.parts
	chunk, ok := kit.ReadObject(data)
	if !ok || !json.Valid(data) {
		return false, kit.NoReply(data, invalid("an event of the stream is not the JSON that the API promises"))
	}
	choices := listed(chunk.Get("choices"))
	isError := tellsError(chunk, choices)
	if isError && finishOf(p.finish) != message.Length {
		return false, reportedError(data)
	}
	p.model, p.id = cmp.Or(chunk.Text("model"), p.model), cmp.Or(chunk.Text("id"), p.id)
	if usage := streamUsage(chunk, choices); usage != nil {
		p.usage = latest(usageOf(usage, r.from.Model), p.usage)
	} else if r.odd = nil; len(choices) == 0 {
		r.odd = bytes.Clone(data)
	}
	if isError {
		return true, nil // OpenRouter says once more that the reply was cut off
	}
	if isWhole(choices) {
		return true, r.whole(data, tell)
	}
	r.collect(data, "delta")
	for _, choice := range choices {
		if choice.Count("index") == 0 {
			if finishOf(p.finish) != message.Length {
				p.finish = cmp.Or(endOf(choice), p.finish)
			}
			r.delta(choice.Get("delta"), tell)
		}
	}
	return false, nil
}

// isWhole reports whether an event of a stream is a whole reply: it has a message and no delta.
func isWhole(choices []kit.Object) bool {
	return len(choices) > 0 && choices[0].Get("message") != nil &&
		slices.Contains([]string{"", "null"}, string(choices[0].Get("delta")))
}

// whole reads a whole reply in place of a stream, or after its pieces (MiniMax), which are told already.
func (r *chatReply) whole(event []byte, tell func(loop.Delta)) error {
	if p := &r.parts; p.text.Len()+p.thinking.Len()+len(p.calls) > 0 {
		tell = nil
	}
	r.parts = chatParts{}
	reply, err := r.readBody(event)
	if err != nil {
		return err
	}
	r.parts.finish = cmp.Or(r.parts.finish, "stop")
	kit.TellWhole(reply, tell)
	return nil
}

func (r *chatReply) delta(raw json.RawMessage, tell func(loop.Delta)) {
	d, _ := kit.ReadObject(raw)
	p := &r.parts
	p.refusal.WriteString(p.refusalPieces.Add(d.Get("refusal")) + refusalIn(d))
	p.message.pick(unflagged(d), r.echo)
	text, flagged := p.divide(d, p.write(d))
	thought := flagged + p.think(d)
	if p.text.WriteString(text); text+thought != "" {
		tell(loop.Delta{Text: text, Thinking: thought, Call: -1})
	}
	pieces := callsOf(d)
	for at, c := range pieces {
		function := functionOf(c)
		n := at
		if len(pieces) == 1 || at >= len(p.calls) || !isNameless(c, function) {
			n = p.place(c, function)
		}
		part := p.calls[n]
		part.custom = part.custom || isCustom(c)
		part.kept.pick(c, r.echo)
		told := loop.Delta{Call: n, Arguments: part.pieces.piece(function.Get("arguments"), kit.ArgumentText)}
		if part.addName(function.Text("name")) {
			told.Name = r.registered(part.name)
		}
		part.add(told.Arguments)
		if told.Name != "" || told.Arguments != "" {
			tell(told)
		}
	}
}

// write returns the text in a piece: what is spoken, if nothing is written.
func (p *chatParts) write(piece kit.Object) string {
	text := p.textPieces.piece(piece.Get("content"), contentOf)
	if p.written = p.written || text != ""; p.written {
		return text
	}
	return p.spokenPieces.Add(piece.Object("audio").Get("transcript"))
}

// isNameless reports whether nothing in a piece tells which call it is of. If an event has several of them,
// they are of the calls in their order.
func isNameless(piece, function kit.Object) bool {
	return indexOf(piece) == "" && piece.Text("id") == "" && function.Text("name") == ""
}

// callsOf returns the calls of a message, or of a piece of one: a list, or, of some gateways, its text or one
// call alone. A piece that says nothing is of no call. The single call of OpenAI's first form (function_call)
// counts if there is no other: some servers send both.
func callsOf(said kit.Object) (calls []kit.Object) {
	list := said.Get("tool_calls")
	if text, isText := kit.ReadText(list); isText {
		list = json.RawMessage(text)
	}
	calls = slices.DeleteFunc(objects(list), isEmpty)
	legacy := said.Object("function_call")
	if len(calls) == 0 && (legacy.Text("name") != "" || kit.ArgumentText(legacy.Get("arguments")) != "") {
		calls = append(calls, kit.Object{kit.Field("function", legacy.JSON())})
	}
	return calls
}

// isEmpty reports whether a piece of a call has neither an id, nor a name, nor arguments.
func isEmpty(call kit.Object) bool {
	function := functionOf(call)
	says := func(v json.RawMessage) bool { return !slices.Contains([]string{"", "null", `""`}, string(v)) }
	return !says(call.Get("id")) && !says(function.Get("name")) && !says(function.Get("arguments"))
}

// functionOf returns the name and the arguments of a call. Some gateways put them into the call itself. Those
// of a custom tool are a text.
func functionOf(call kit.Object) kit.Object {
	if function, nested := kit.ReadObject(call.Get("function")); nested {
		return function
	}
	if isCustom(call) {
		custom := call.Object("custom")
		return kit.Object{kit.Field("name", custom.Get("name")), kit.Field("arguments", custom.Get("input"))}
	}
	return call
}

// isCustom reports whether a call, or a piece of one, is of a custom tool.
func isCustom(call kit.Object) bool { return call.Object("custom") != nil }

// pieceReader reads the pieces of a text.
type pieceReader struct{ kit.Pieces }

// piece reads a piece: a JSON string, or by other if it is none.
func (r *pieceReader) piece(raw json.RawMessage, other func(json.RawMessage) string) string {
	if bytes.HasPrefix(raw, []byte(`"`)) {
		return r.Add(raw)
	}
	return other(raw)
}

// think collects the thoughts of a message, or of a piece of one, and returns them. Servers put them into
// several members, and some use more than one.
func (p *chatParts) think(from kit.Object) (thought string) {
	for _, part := range objects(from.Get("content")) {
		switch part.Text("type") {
		case "thinking": // Mistral
			thought, p.inContent = thought+textOf(part.Get("thinking")), true
			p.signature = cmp.Or(part.Text("signature"), p.signature)
		case "reasoning": // Databricks
			thought += textOf(part.Get("summary"))
		}
	}
	if thought == "" {
		said := thoughtIn(from)
		if thought = p.thoughtPieces.Add(said); thought == "" && kit.Text(said) == "" {
			for _, detail := range objects(from.Get("reasoning_details")) { // OpenRouter, Snowflake
				thought += cmp.Or(detail.Text("text"), detail.Text("summary"))
			}
		}
	}
	p.thinking.WriteString(thought)
	return thought
}

// callKey is what a piece tells of its call. Without an id it is that of the latest call of an index, without
// an index that of the call which got the id.
type callKey struct{ index, id string }

// indexOf returns the index of a piece, which some servers write as a text; empty if it has none.
func indexOf(piece kit.Object) string {
	if index := strings.Trim(string(piece.Get("index")), `"`); index != "null" {
		return index
	}
	return ""
}

// place returns the call that a piece belongs to: the one of its index that had its id, or the latest one of
// its index, unless the piece begins another call. A piece without a name begins none, and some servers give
// it a wrong index or none: it is of the call with its id, or of that of the piece before.
func (p *chatParts) place(piece, function kit.Object) int {
	index, id := cmp.Or(indexOf(piece), "0"), piece.Text("id")
	n, known := p.at[callKey{index, id}]
	goesOn := function.Text("name") == "" && len(p.calls) > 0
	if !known && id != "" && goesOn {
		n, known = p.at[callKey{"", id}]
	}
	if !known && id != "" {
		n, known = p.at[callKey{index, ""}]
	}
	if goesOn && id == "" && (!known || indexOf(piece) == "") {
		n, known = p.latest, true
	}
	if !known || p.calls[n].ends(piece, function) {
		n = len(p.calls)
		set(&p.at, callKey{index, ""}, n)
		p.calls = append(p.calls, &callParts{})
	}
	if p.calls[n].id == "" && id != "" {
		p.calls[n].id = id
		set(&p.at, callKey{"", id}, n)
	}
	set(&p.at, callKey{index, id}, n)
	p.latest = n
	return n
}

// add takes a piece of the arguments.
func (c *callParts) add(piece string) {
	if piece == "" {
		return
	}
	c.goesOn = c.goesOn || !strings.HasPrefix(piece, c.latest)
	c.latest = piece
	c.arguments.WriteString(piece)
}

// said returns the arguments. Some servers say all of them so far in each piece, which is told from more of
// them only at the end: {"a": goes on with {"a":1}} too.
func (c *callParts) said() string {
	written, isRestated := c.arguments.String(), !c.goesOn && c.arguments.Len() > len(c.latest)
	if isRestated && !c.custom && c.latest[0] == '{' && !kit.IsStrict([]byte(written)) {
		return c.latest
	}
	return written
}

// addName takes the name in a piece, and reports whether it tells more. Most servers send the name once or
// repeat it, but some send it in pieces.
func (c *callParts) addName(name string) bool {
	switch {
	case name == c.name || c.name != "" && c.arguments.Len() > 0:
		return false
	case strings.HasPrefix(name, c.name):
		c.name = name
	default:
		c.name += name
	}
	return name != ""
}

// ends reports whether a piece with the index of a call begins another one, because some servers give every
// call the same index, or none. It has a name, and another id or, after all arguments, none and more of them.
// So does another id with more of them: some servers tell the name last. A new id alone begins no call,
// because some change it after the first piece.
func (c *callParts) ends(piece, function kit.Object) bool {
	id, name := piece.Text("id"), function.Text("name")
	more := strings.TrimSpace(kit.ArgumentText(function.Get("arguments")))
	begins := strings.HasPrefix(more, "{") // what goes on after an object does not
	switch {
	case c.name == "", name == "" && (id == "" || c.id == "" || id == c.id):
		return false
	case id == "", name == "":
		return begins && c.extent.whole(c.arguments.String())
	case c.id == "" || id == c.id:
		return false
	}
	return name != c.name || indexOf(piece) == "" ||
		(more == "" || begins) && c.extent.whole(c.arguments.String())
}

// extent finds the end of the object in a text that grows. It reads each byte once, because a server may send
// many pieces.
type extent struct {
	// read is the length that is read, depth how many objects are open there.
	read, depth     int
	quoted, escaped bool
	// end is the length of the first object; 0 before it has come. strict is set if that is strict JSON.
	end    int
	strict bool
}

// whole reports whether a text is one object in strict JSON and no more. It begins with the text of the call
// before.
func (e *extent) whole(text string) bool {
	for ; e.end == 0 && e.read < len(text); e.read++ {
		switch at := text[e.read]; {
		case e.escaped:
			e.escaped = false
		case at == '\\':
			e.escaped = true
		case at == '"':
			e.quoted = !e.quoted
		case e.quoted:
		case at == '{':
			e.depth++
		case at == '}':
			if e.depth--; e.depth <= 0 {
				e.end = e.read + 1
				e.strict = kit.IsStrict([]byte(text[:e.end]))
			}
		}
	}
	return e.strict && e.end == len(text)
}

// ended returns the reply at the end of a stream. The stream must have given a finish reason. Some servers
// only mark the end: then there must be a text or calls with complete arguments, and nothing else after them.
func (r *chatReply) ended(done bool) (message.Reply, error) {
	if r.parts.finish == "" {
		otherwise := kit.ErrEnded
		if done && r.odd == nil && r.parts.complete() {
			otherwise = nil
		}
		if err := kit.NoReply(r.odd, otherwise); err != nil {
			return message.Reply{}, err
		}
	}
	return r.reply()
}

// complete reports whether there is a text, or calls with complete arguments.
func (p *chatParts) complete() bool {
	cut := func(c *callParts) bool {
		return c.arguments.Len() > 0 && !c.custom && !kit.IsStrict([]byte(c.said()))
	}
	return p.text.Len()+p.refusal.Len()+len(p.calls) > 0 && !slices.ContainsFunc(p.calls, cut)
}

func (r *chatReply) reply() (message.Reply, error) {
	p := &r.parts
	if code := failureOf(p.finish); code != "" {
		return message.Reply{}, unfinished(code, fmt.Sprintf("finish reason %q", p.finish))
	}
	if err := kit.Unusable(p.finish, ""); err != nil {
		return message.Reply{}, err
	}
	reply := message.Reply{
		Text: p.text.String(), Refusal: p.refusal.String(), Usage: p.usage,
		Model: p.model, Thinking: p.thinking.String(), Source: message.Source{ID: p.id, Finish: p.finish},
	}
	k := kept{Origin: r.from, Message: p.message.join()}
	if p.inContent {
		k.Thinking, k.Signature = reply.Thinking, p.signature
	}
	for n, c := range p.calls {
		call := message.Call{ID: c.id, Name: r.registered(c.name), Arguments: c.said()}
		if c.custom {
			k.Custom = append(k.Custom, n)
		} else {
			call.Arguments = kit.Once(call.Arguments)
		}
		reply.Calls, k.Calls = append(reply.Calls, call), append(k.Calls, c.kept.join())
	}
	reply.Calls = kit.NameCalls(r.apart(reply.Calls))
	k.OwnIDs = r.gaveIDs(reply.Calls)
	reply.Finish = finishOf(p.finish, reply.Calls...)
	if r.most > 0 && p.usage.OutputTokens >= r.most && reply.Finish == message.ToolUse && !p.complete() {
		reply.Finish = message.Length // vLLM says so only of replies that are not streamed
	}
	reply.Opaque = k.opaque()
	return reply, nil
}

// gaveIDs reports whether the calls of a reply have the ids that the server gave them, and others would not
// take all of those. An id that was made here goes back in the server's form, like another server's.
func (r *chatReply) gaveIDs(named []message.Call) bool {
	foreign := false
	for n, c := range r.parts.calls {
		if c.id != named[n].ID {
			return false
		}
		foreign = foreign || !r.takesID(c.id)
	}
	return foreign
}

// tellsError reports whether a body with some choices has an error in place of a reply, or within a choice.
// MiniMax sends one beside an empty choice. If a provider behind a gateway could not read the reply, its own
// finish reason says more than the error of the gateway.
func tellsError(doc kit.Object, choices []kit.Object) bool {
	if len(choices) > 0 && kit.Unusable(choices[0].Text("native_finish_reason"), "") != nil {
		return false
	}
	if kit.IsError(doc.Get("error")) || kit.IsError(doc.Object("x_groq").Get("error")) ||
		doc.Object("base_resp").Count("status_code") > 0 || doc.Text("object") == "error" {
		return true
	}
	return slices.ContainsFunc(choices, func(choice kit.Object) bool { return kit.IsError(choice.Get("error")) })
}
