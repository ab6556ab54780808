package check

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/bench/work"
	"github.com/retake-go/retake/schema"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the schemas of package work")

// The schemas that the other modules use are those that retake makes from the types.
func TestSchemas(t *testing.T) {
	order, err := schema.For[work.Order]()
	require.NoError(t, err)
	booking, err := schema.For[work.Booking]()
	require.NoError(t, err)
	for _, c := range []struct {
		file       string
		made, kept []byte
	}{
		{"order.schema.json", order.Schema().JSON(), work.OrderSchema},
		{"booking.schema.json", booking.Schema().JSON(), work.BookingSchema},
	} {
		if *rewrite {
			require.NoError(t, os.WriteFile(filepath.Join("..", "work", c.file), append(c.made, '\n'), 0o644))
			continue
		}
		require.JSONEq(t, string(c.made), string(c.kept), "go test ./check -run TestSchemas -rewrite")
	}
}
