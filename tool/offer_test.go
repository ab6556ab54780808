package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

func TestTheNearestNameIsOfferedFirst(t *testing.T) {
	var tools []*tool.Tool
	for _, name := range []string{"find_recipe", "cancel", "book_room", "book_rooms", "hotel.search", strings.Repeat("x", 64)} {
		raw, err := tool.Raw(name, "", []byte(`{}`), func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
		require.NoError(t, err)
		tools = append(tools, raw)
	}
	set, err := tool.NewSet(tools...)
	require.NoError(t, err)
	for name, want := range map[string]string{
		"book_rom":               "one of book_room (the nearest name), find_recipe, cancel, book_rooms, hotel",
		"BookRoom":               "one of book_room (the nearest name), find",
		"book_roomz":             "one of book_room (the nearest name), find",
		"hotel/Search":           "one of hotel.search (the nearest name), find",
		"no_function":            "one of find_recipe, cancel",
		"":                       "one of find_recipe, cancel",
		"x":                      "one of find_recipe, cancel",
		strings.Repeat("x", 65):  "one of find_recipe, cancel",
		strings.Repeat("x", 1e6): "one of find_recipe, cancel",
	} {
		got := set.Read(message.Reply{Calls: []message.Call{{Name: name}}}, defaults()).Calls[0]
		if got.Good() {
			continue // an alias
		}
		assert.True(t, strings.HasPrefix(got.Issues[0].Expected, want), "%.20s: %s", name, got.Issues[0].Expected)
	}
}
