package loop

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// What a run leaves is nothing, so that the next one that works there finds nothing of it; but a call that outlives its run still finds
// what it was called with.
func TestAScratchIsLeftEmpty(t *testing.T) {
	type trip struct{ City string }
	heard := ""
	book, err := tool.NewSet(tool.New("book", "Book a trip.", func(_ context.Context, a trip) (string, error) {
		heard = a.City
		return "booked", nil
	}))
	require.NoError(t, err)
	d := &driver{cfg: &Config{Tools: book}}
	r := d.ownRunner()
	in := r.newReading()
	in.read(message.Reply{Calls: []message.Call{{ID: "c1", Name: "book", Arguments: `{"City":"Lisbon"}`}}}, r.cfg, tool.Settings{}, r.scratch)
	r.ready, r.newCallEnd().Index = in.ready, 1
	require.Len(t, r.ready, 1)

	left := r.scratch
	r.tidy()
	assert.Nil(t, r.scratch)
	assert.Equal(t, scratch{}, *left)
	r.newReading()
	assert.Equal(t, scratch{}, *r.scratch)
	args := []byte(`{"City":"Lisbon"}`)
	tools := r.cfg.Tools.All()
	assert.Equal(t, `"booked"`, string(tools[0].InvokeReady(t.Context(), r.ready[0], args).Result))
	assert.Equal(t, "Lisbon", heard)
}
