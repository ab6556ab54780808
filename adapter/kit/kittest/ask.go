package kittest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// booking is the argument of book_room.
type booking struct {
	City   string `json:"city" validate:"required" jsonschema:"description=Where to stay"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
	Room   string `json:"room" validate:"oneof=single double"`
}

// receipt is the result of book_room.
type receipt struct {
	Receipt string `json:"receipt"`
}

// itinerary is the structured answer of the ask "output".
type itinerary struct {
	City    string   `json:"city" validate:"required"`
	Nights  int      `json:"nights" validate:"min=1,max=30"`
	Receipt string   `json:"receipt" validate:"required,startswith=R-"`
	Notes   []string `json:"notes,omitempty"`
}

// BookRoom is the tool of the asks and the stories.
func BookRoom() *tool.Tool {
	return tool.New("book_room", "Book a hotel room.", func(_ context.Context, b booking) (receipt, error) {
		return receipt{fmt.Sprintf("R-%s-%d", strings.ToLower(b.City), b.Nights)}, nil
	})
}

// HotelFind is a tool whose name no provider accepts unchanged.
func HotelFind() *tool.Tool {
	type query struct {
		City string `json:"city,omitempty"`
	}
	return tool.New("hotel.find", "Find hotels.",
		func(context.Context, query) ([]string, error) { return []string{"Ritz"}, nil })
}

// Asks returns the requests that files may name, by name. Each call makes new ones.
func Asks() map[string]loop.Request {
	typed, err := schema.For[itinerary]()
	if err != nil {
		panic(err)
	}
	book := []*tool.Tool{BookRoom()}
	two := []*tool.Tool{BookRoom(), HotelFind()}
	return map[string]loop.Request{
		"plain":     {System: system, Messages: said(prompt)},
		"tools":     {System: system, Messages: said(prompt), Tools: book},
		"output":    {System: system, Messages: said(prompt), Output: typed.Schema()},
		"both":      {System: system, Messages: said(prompt), Tools: two, Output: typed.Schema()},
		"corrected": {System: system, Messages: said(corrected()...), Tools: book},
		"garbled":   {System: system, Messages: said(garbled()...), Tools: book},
		"foreign":   {Messages: said(foreign()...), Tools: two},
	}
}

const system = "You book hotel rooms."

var prompt = message.Message{Role: message.User, Text: "Two nights in Lisbon and three in Porto, please."}

func said(messages ...message.Message) []message.Message { return messages }

// corrected has a good and a bad call of one reply, both answered.
func corrected() []message.Message {
	return []message.Message{
		prompt,
		{Role: message.Assistant, Text: "I book both.", Calls: []message.Call{
			{ID: "c1", Name: "book_room", Arguments: `{"city":"Lisbon","nights":2,"room":"double"}`},
			{ID: "c2", Name: "book_room", Arguments: `{"city":"Porto","nights":"three"}`},
		}},
		{Role: message.Tool, CallID: "c1", Name: "book_room", Text: `{"receipt":"R-lisbon-2"}`},
		{Role: message.Tool, CallID: "c2", Name: "book_room", IsError: true,
			Text: "nights: expected integer, got string; room: required"},
	}
}

// garbled has calls whose arguments are not a JSON object, and one without arguments.
func garbled() []message.Message {
	return []message.Message{
		prompt,
		{Role: message.Assistant, Calls: []message.Call{
			{ID: "c1", Name: "book_room", Arguments: `{"city": "Lisbon", "nights": `},
			{ID: "c2", Name: "book_room", Arguments: `["Porto"]`},
			{ID: "c3", Name: "book_room"},
		}},
		{Role: message.Tool, CallID: "c1", Name: "book_room", IsError: true, Text: "not JSON"},
		{Role: message.Tool, CallID: "c2", Name: "book_room", IsError: true,
			Text: "expected object, got array"},
		{Role: message.Tool, CallID: "c3", Name: "book_room", IsError: true, Text: "city: required"},
	}
}

// foreign is a transcript from other models and truncated histories: an answer without a call, system and
// user messages in a row, empty texts, a call in text, another adapter's opaque data, calls without an id
// and of an unknown name, and a call without an answer.
func foreign() []message.Message {
	return []message.Message{
		{Role: message.Tool, CallID: "c0", Name: "book_room", Text: `{"receipt":"R-faro-1"}`},
		{Role: message.System, Text: "Prices are in euros."},
		{Role: message.System, Text: "Be brief."},
		{Role: message.User, Text: "Hello."},
		{Role: message.User},
		prompt,
		{Role: message.Assistant,
			Text: `<tool_call>{"name": "book_room", "arguments": {"city": "Porto"}}</tool_call>`},
		{Role: message.User, Text: "book_room: nights: required; room: required"},
		{Role: message.Assistant, Opaque: `{"adapter":"another","secret":"x"}`, Calls: []message.Call{
			{Name: "hotel.find", Arguments: `{"city":"Porto"}`},
			{Name: "no such tool!", Arguments: `{}`},
		}},
		{Role: message.Tool, CallID: "call-1", Name: "hotel.find", Text: `["Ritz"]`},
		{Role: message.Tool, CallID: "call-2", Name: "no such tool!", IsError: true,
			Text: "one of book_room, hotel.find"},
		{Role: message.Assistant, Text: "One moment.", Calls: []message.Call{
			{ID: "c9", Name: "book_room", Arguments: `{"city":"Porto","nights":3,"room":"single"}`},
		}},
		{Role: message.User, Text: "Are you there?"},
		{Role: message.Assistant},
		{Role: message.User, Text: "Hello?"},
	}
}

// askFile is the section "ask".
type askFile struct {
	Ask      string            `json:"ask"`
	System   *string           `json:"system"`
	Messages []message.Message `json:"messages"`
	Tools    []string          `json:"tools"`
	// Temperature, ToolChoice and Stop are those of the request.
	Temperature *float64           `json:"temperature"`
	ToolChoice  message.ToolChoice `json:"tool_choice"`
	Stop        []string           `json:"stop"`
	Output      json.RawMessage    `json:"output"`
	Stream      bool               `json:"stream"`
}

func readAsk(doc []byte) (askFile, error) {
	var a askFile
	known := json.NewDecoder(bytes.NewReader(doc))
	known.DisallowUnknownFields()
	if err := known.Decode(&a); err != nil {
		return a, fmt.Errorf("ask: %w", err)
	}
	return a, nil
}

// request makes the request of an ask; the caller sets its Stream.
func (a askFile) request() (loop.Request, error) {
	req, known := Asks()[a.Ask]
	if !known {
		return req, fmt.Errorf("ask: %q is none of %s", a.Ask,
			strings.Join(slices.Sorted(maps.Keys(Asks())), ", "))
	}
	if a.System != nil {
		req.System = *a.System
	}
	req.Temperature, req.ToolChoice, req.Stop = a.Temperature, a.ToolChoice, a.Stop
	if a.Messages != nil {
		req.Messages = said(a.Messages...)
	}
	if a.Tools != nil {
		req.Tools = nil
	}
	for _, name := range a.Tools {
		switch name {
		case "book_room":
			req.Tools = append(req.Tools, BookRoom())
		case "hotel.find":
			req.Tools = append(req.Tools, HotelFind())
		default:
			return req, fmt.Errorf("ask: tools: %q is neither book_room nor hotel.find", name)
		}
	}
	if string(a.Output) == "null" {
		req.Output = nil
	} else if a.Output != nil {
		s, err := schema.Compile(a.Output)
		if err != nil {
			return req, fmt.Errorf("ask: output: %w", err)
		}
		req.Output = s
	}
	if a.Stream {
		req.Stream = func(loop.Delta) {}
	}
	return req, nil
}
