package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

func (m *Model) responsesCodec(req loop.Request) codec {
	return &responsesReply{wireNames: namesOf(req.Tools), from: m.origin()}
}

// responsesReply reads one response of the Responses API.
type responsesReply struct {
	wireNames
	from kit.Origin

	// Of a stream: the completed items by index, and the calls and texts that have begun.
	items map[int64]output
	calls map[int64]int
	quiet map[int64]bool
	wrote map[int64]bool
	// pieces read the pieces of each text, of thoughts and of arguments.
	pieces map[place]*kit.Pieces
	// thought is the place of the latest thoughts.
	thought place
	// last is the whole response in the last event, end the status that this event tells, and tell streams
	// what came with it alone.
	last json.RawMessage
	end  string
	tell func(loop.Delta)

	extras kit.Extras
}

func (r *responsesReply) extra() kit.Extras { return r.extras }

// isOurs reports whether an item is a call of ours.
func (r *responsesReply) isOurs(i item) bool { return i.isOurs(r.has) }

// place identifies a text within an item. Items count from one.
type place struct{ item, summary int64 }

// document is the part of a response that is used. Items stay as they came, because they go back.
type document struct {
	ID                string
	Status            string
	Model             string
	Output            []output
	Error             json.RawMessage
	Reasoning         json.RawMessage
	IncompleteDetails struct{ Reason string } `json:"incomplete_details"`
	Usage             json.RawMessage
}

// readBody reads a response that is no stream.
func (r *responsesReply) readBody(body []byte) (message.Reply, error) {
	var doc document
	if json.Unmarshal(body, &doc) != nil {
		return message.Reply{}, invalid("the reply is not the JSON that the API promises")
	}
	doc.Status = cmp.Or(doc.Status, r.end)
	switch {
	case kit.IsError(doc.Error):
		return message.Reply{}, reportedError(body)
	case doc.Output == nil && (doc.Status == "" || doc.Status == "completed"):
		return message.Reply{}, invalid("the reply has no output")
	}
	r.extras.Keep(body, "output", "usage", "tool_usage", "service_tier", "moderation")
	return r.reply(doc)
}

func (r *responsesReply) reply(doc document) (message.Reply, error) {
	s := readItems(doc.Output, r.isOurs)
	beside, _ := kit.ReadText(doc.Reasoning) // at mistral.rs; elsewhere these are settings
	reply := message.Reply{Text: s.text, Refusal: s.refusal, Thinking: cmp.Or(s.thinking, beside), Calls: s.calls,
		Model: doc.Model, Usage: usageOf(doc.Usage, r.from.Model), Source: message.Source{ID: doc.ID,
			Finish: cmp.Or(doc.IncompleteDetails.Reason, doc.Status)}}
	reply.PromptTokens = promptOf(doc.Usage, reply.Usage.InputTokens)
	for n := range reply.Calls {
		reply.Calls[n].Name = r.registered(reply.Calls[n].Name)
	}
	reply.Calls = kit.NameCalls(r.apart(reply.Calls))
	switch doc.Status {
	case "completed", "requires_action", "": // some gateways say so of a reply with calls
		if kind := waiting(doc.Output, r.isOurs); kind != "" {
			return message.Reply{}, &kit.ReportedError{Code: "operation_not_supported", Final: true,
				Say: "the response waits for what retake does not do (" + kind + "): take the tool out of the request"}
		}
		reply.Finish, reply.Opaque = message.Stop, keepItems(r.from, doc.Output, r.isOurs)
		switch {
		case isHalf(doc.Output, r.isOurs):
			reply.Finish = message.Length
		case len(reply.Calls) > 0:
			reply.Finish = message.ToolUse
		}
	case "incomplete":
		reason := doc.IncompleteDetails.Reason
		if reply.Finish = finishOf(cmp.Or(reason, "length")); reply.Finish == "" {
			return message.Reply{}, unfinished("server_error", fmt.Sprintf("incomplete: %q", reason))
		}
	case "queued", "in_progress":
		say := fmt.Sprintf("the response runs in the background (status %q): take the member background "+
			"out of the request", doc.Status)
		return message.Reply{}, &kit.ReportedError{Code: "server_error", Say: say, Final: true}
	default:
		return message.Reply{}, unfinished("server_error", fmt.Sprintf("status %q", doc.Status))
	}
	return reply, nil
}

// streamed is the part of a stream's event that is used.
type streamed struct {
	Type        string
	OutputIndex int64 `json:"output_index"`
	Summary     int64 `json:"summary_index"`
	Delta       json.RawMessage
	Text        json.RawMessage
	Arguments   json.RawMessage
	Input       json.RawMessage
	Item        output
	Response    json.RawMessage
	Error       json.RawMessage
	Output      []json.RawMessage
}

// ends are the statuses of responses that did not end well, by their last event. Some servers omit them.
var ends = map[string]string{"response.incomplete": "incomplete", "response.failed": "failed"}

// event reads one event. Unknown types are ignored.
func (r *responsesReply) event(data []byte, tell func(loop.Delta)) (bool, error) {
	var e streamed
	if json.Unmarshal(data, &e) != nil {
		return false, invalid("an event of the stream is not the JSON that the API promises")
	}
	switch e.Type {
	case "response.output_item.added":
		r.began(e, tell)
	case "response.output_text.delta":
		r.wroteText(e, tell)
	case "response.output_text.done": // some servers tell it only here, and the arguments of a call too
		if e.Delta = e.Text; r.pieces[e.place()] == nil {
			r.wroteText(e, tell)
		}
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		r.thinks(e, tell)
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		r.wroteArguments(e, tell)
	case "response.function_call_arguments.done", "response.custom_tool_call_input.done":
		if e.Delta = e.Arguments; e.Delta == nil {
			e.Delta = e.Input
		}
		if r.pieces[e.place()] == nil {
			r.wroteArguments(e, tell)
		}
	case "response.output_item.done":
		if e.Item.raw != nil {
			set(&r.items, e.OutputIndex, e.Item)
			r.began(e, tell)
		}
	case "response.completed", "response.done", "response.incomplete", "response.failed":
		if e.Response == nil && kit.IsError(e.Error) {
			return false, reportedError(data)
		}
		r.last, r.end, r.tell = e.Response, ends[e.Type], tell
		return true, nil
	case "error":
		return false, reportedError(data)
	default:
		if kit.IsError(e.Error) {
			return false, reportedError(data)
		}
		if e.Type == "" && e.Output != nil { // a whole reply in place of a stream
			r.last = data
			reply, err := r.readBody(data)
			if err == nil {
				kit.TellWhole(reply, tell)
			}
			return true, err
		}
	}
	return false, nil
}

// began handles the start of an item, or the end of one that has not begun. A call is streamed by its name.
// One that is announced whole begins with its end: at Perplexity it turns into what a search of its own
// found.
func (r *responsesReply) began(e streamed, tell func(loop.Delta)) {
	item := e.Item.item
	set(&r.quiet, e.OutputIndex, item.Phase == commentary)
	_, begun := r.calls[e.OutputIndex]
	announced := e.Type == "response.output_item.added" && item.Status == "completed" && item.arguments() != ""
	if !r.isOurs(item) || begun || announced {
		return
	}
	n := len(r.calls)
	set(&r.calls, e.OutputIndex, n)
	if item.arguments() != "" {
		set(&r.pieces, e.place(), &kit.Pieces{})
	}
	tell(loop.Delta{Call: n, Name: r.registered(item.Name), Arguments: item.arguments()})
}

func (e streamed) place() place { return place{e.OutputIndex + 1, e.Summary} }

// piece returns the text that an event completes.
func (r *responsesReply) piece(e streamed) string {
	if r.pieces[e.place()] == nil {
		set(&r.pieces, e.place(), &kit.Pieces{})
	}
	return r.pieces[e.place()].Add(e.Delta)
}

// wroteArguments streams a piece of a call's arguments.
func (r *responsesReply) wroteArguments(e streamed, tell func(loop.Delta)) {
	if n, known := r.calls[e.OutputIndex]; known {
		tell(loop.Delta{Call: n, Arguments: r.piece(e)})
	}
}

// wroteText streams a piece of text, unless it is commentary.
func (r *responsesReply) wroteText(e streamed, tell func(loop.Delta)) {
	piece := r.piece(e)
	if r.quiet[e.OutputIndex] || piece == "" {
		return
	}
	if !r.wrote[e.OutputIndex] && len(r.wrote) > 0 {
		piece = betweenTexts + piece
	}
	set(&r.wrote, e.OutputIndex, true)
	tell(loop.Delta{Text: piece, Call: -1})
}

// thinks streams a piece of thoughts.
func (r *responsesReply) thinks(e streamed, tell func(loop.Delta)) {
	piece, at := r.piece(e), e.place()
	if piece == "" {
		return
	}
	if r.thought != at && r.thought != (place{}) {
		piece = betweenTexts + piece
	}
	r.thought = at
	tell(loop.Delta{Thinking: piece, Call: -1})
}

// ended returns the reply at the end of a stream. A reply that lacks what was streamed is none, unless it
// says that it was cut off: gateways lose the output, and the model did say something.
func (r *responsesReply) ended(bool) (message.Reply, error) {
	if r.last == nil {
		return message.Reply{}, kit.ErrEnded
	}
	reply, err := r.readBody(r.whole())
	whole := reply.Finish == message.Stop || reply.Finish == message.ToolUse
	if err == nil && whole && (len(r.calls) > len(reply.Calls) || len(r.wrote) > 0 && reply.Text == "") {
		return message.Reply{}, invalid("the end of the stream lacks the output that was streamed")
	}
	if err == nil {
		r.tellRest(reply)
	}
	return reply, err
}

// tellRest streams what came with the last event alone: some servers send no pieces of it.
func (r *responsesReply) tellRest(reply message.Reply) {
	if len(r.wrote) > 0 {
		reply.Text = ""
	}
	if r.thought != (place{}) {
		reply.Thinking = ""
	}
	if len(r.calls) > 0 {
		reply.Calls = nil
	}
	kit.TellWhole(reply, r.tell)
}

// whole returns the whole response. The last event has it, except that some servers omit the output there: it
// is in the events before.
func (r *responsesReply) whole() json.RawMessage {
	var doc struct{ Output []json.RawMessage }
	if json.Unmarshal(r.last, &doc) != nil || len(doc.Output) > 0 || len(r.items) == 0 {
		return r.last
	}
	last, _ := kit.ReadObject(r.last)
	var items []json.RawMessage
	for _, at := range slices.Sorted(maps.Keys(r.items)) {
		items = append(items, r.items[at].raw)
	}
	return last.With("output", kit.List(items...)).JSON()
}

// set sets m[k] = v in a map that may be nil.
func set[M ~map[K]V, K comparable, V any](m *M, k K, v V) {
	if *m == nil {
		*m = M{}
	}
	(*m)[k] = v
}
