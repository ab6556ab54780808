package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/tool"
)

// serveFlag makes the program the server, over its standard input and output.
const serveFlag = "-serve"

// hotel is a hotel of the server.
type hotel struct {
	Name string `json:"name"`
	// Euros are the prices of a night by room; other rooms are not available.
	Euros map[string]int `json:"euros_per_night"`
}

var hotels = map[string][]hotel{
	"lisbon": {{"Ritz", map[string]int{"single": 240, "double": 310}}, {"Pensao Sol", map[string]int{"double": 65}}},
	"porto":  {{"Ponte", map[string]int{"single": 80, "double": 95}}},
}

// The schemas of the tools' arguments. The server's own checks go further: see bookRoom.
const (
	findSchema = `{"type": "object", "additionalProperties": false, "required": ["city", "nights"], "properties": {
		"city": {"type": "string", "description": "Where to stay"}, "nights": {"type": "integer", "minimum": 1, "maximum": 30}}}`
	bookSchema = `{"type": "object", "additionalProperties": false, "required": ["hotel", "room", "nights"], "properties": {
		"hotel": {"type": "string", "description": "As find_hotel names it"}, "room": {"type": "string", "enum": ["single", "double"]},
		"nights": {"type": "integer", "minimum": 1, "maximum": 30}}}`
)

type search struct {
	City   string `json:"city"`
	Nights int    `json:"nights"`
}

type found struct {
	Hotels []hotel `json:"hotels"`
}

type booking struct {
	Hotel  string `json:"hotel"`
	Room   string `json:"room"`
	Nights int    `json:"nights"`
}

type receipt struct {
	Receipt string `json:"receipt"`
	Euros   int    `json:"euros"`
}

// serve is the server. It does not know retake.
func serve(ctx context.Context) error {
	server := sdk.NewServer(&sdk.Implementation{Name: "trips", Version: "v1"}, nil)
	sdk.AddTool(server, &sdk.Tool{
		Name: "find_hotel", Description: "Find hotels in a city.", InputSchema: json.RawMessage(findSchema),
	}, findHotel)
	sdk.AddTool(server, &sdk.Tool{
		Name: "book_room", Description: "Book a room of a hotel.", InputSchema: json.RawMessage(bookSchema),
	}, bookRoom)
	err := server.Run(ctx, &sdk.StdioTransport{})
	if errors.Is(err, sdk.ErrConnectionClosed) { // the end of its input tells it to end
		return nil
	}
	return err
}

func findHotel(_ context.Context, _ *sdk.CallToolRequest, s search) (*sdk.CallToolResult, found, error) {
	there, known := hotels[strings.ToLower(s.City)]
	if !known {
		return nil, found{}, refuse("No hotel in %s. There are some in Lisbon and Porto.", s.City)
	}
	return nil, found{there}, nil
}

// refusal is an error with words for the model. The SDK turns a handler's error into a result with isError.
type refusal string

func (r refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// bookRoom refuses what no schema can: a room that is not available.
func bookRoom(_ context.Context, _ *sdk.CallToolRequest, b booking) (*sdk.CallToolResult, receipt, error) {
	for _, h := range slices.Concat(hotels["lisbon"], hotels["porto"]) {
		if !strings.EqualFold(h.Name, b.Hotel) {
			continue
		}
		price, free := h.Euros[b.Room]
		if !free {
			return nil, receipt{}, refuse("%s has no %s room.", h.Name, b.Room)
		}
		number := strings.ToLower(strings.ReplaceAll(h.Name, " ", "-"))
		return nil, receipt{Receipt: fmt.Sprintf("R-%s-%d", number, b.Nights), Euros: price * b.Nights}, nil
	}
	return nil, receipt{}, refuse("There is no hotel %q. Ask find_hotel.", b.Hotel)
}

// connect starts this program again as the server, and lists its tools. stop ends the server.
func connect(ctx context.Context) (tools *tool.Set, stop func() error, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	server := exec.Command(program, serveFlag)
	server.Env = []string{} // it needs none of our keys
	server.Stderr = os.Stderr
	var watch mcp.Watch
	client := sdk.NewClient(&sdk.Implementation{Name: "trip", Version: "v1"}, watch.Options(nil))
	remote, err := client.Connect(ctx, &sdk.CommandTransport{Command: server}, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("starting the server: %w", err)
	}
	listed, err := mcp.Tools(ctx, remote, mcp.DefaultConfig(), mcp.WithWatch(&watch))
	if err == nil {
		tools, err = tool.NewSet(listed...)
	}
	if err != nil {
		return nil, nil, errors.Join(err, remote.Close())
	}
	return tools, remote.Close, nil
}
