package mcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/tool"
)

const storyFile = "testdata/story/two_bookings.txtar"

// A client without retake makes the calls of every provider's story, one good and one bad, to a served
// tool. docs/wire.md shows them beside the providers' forms.
func TestStory(t *testing.T) {
	set, err := tool.NewSet(kittest.BookRoom())
	require.NoError(t, err)
	server := sdk.NewServer(self, nil)
	require.NoError(t, mcp.Serve(server, set))
	here, there := sdk.NewInMemoryTransports()
	_, err = server.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	var log lines
	client, err := sdk.NewClient(self, nil).Connect(t.Context(), &sdk.LoggingTransport{Transport: here, Writer: &log}, nil)
	require.NoError(t, err)
	for _, arguments := range []string{`{"city":"Lisbon","nights":2,"room":"double"}`, `{"city":"Porto","nights":"three"}`} {
		_, err = client.CallTool(t.Context(), &sdk.CallToolParams{Name: "book_room", Arguments: json.RawMessage(arguments)})
		require.NoError(t, err)
	}
	require.NoError(t, client.Close())

	got := "A client calls a served tool twice. The second call is bad, and its result says so.\n" + exchanges(t, log.String())
	if kittest.Rewriting() {
		require.NoError(t, os.WriteFile(storyFile, []byte(got), 0o644))
	}
	want, err := os.ReadFile(storyFile)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "where the change is meant: go test . -args -rewrite, and read the diff")
}

// lines is a log that may be read while it is written: the SDK notes the end of input last.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// exchanges returns the tools/call requests of a log and their responses, as sections of an archive. A
// request is logged after it was sent, so it may follow its response.
func exchanges(t *testing.T, log string) string {
	t.Helper()
	var ids []string
	docs := map[string]string{}
	for line := range strings.Lines(log) {
		_, doc, _ := strings.Cut(line, ": ")
		var head struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal([]byte(doc), &head) != nil || head.ID == nil {
			continue
		}
		id, kind := string(head.ID), "response"
		if head.Method == "tools/call" {
			ids, kind = append(ids, id), "request"
		}
		var indented bytes.Buffer
		require.NoError(t, json.Indent(&indented, []byte(strings.TrimSpace(doc)), "", "  "))
		docs[kind+id] = indented.String()
	}
	var b strings.Builder
	for n, id := range ids {
		fmt.Fprintf(&b, "-- request-%d --\n%s\n-- response-%d --\n%s\n", n+1, docs["request"+id], n+1, docs["response"+id])
	}
	return b.String()
}
