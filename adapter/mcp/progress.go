package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// reporter sends the progress of a tool to the client that requested it. It is not called concurrently.
func (s *served) reporter(ctx context.Context, session *sdk.ServerSession, token any) func([]byte) {
	last := -1.0
	return func(payload []byte) {
		p, grows := advance(last, payload)
		if !grows {
			return
		}
		last = p.Progress
		err := session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Message: p.Message, Progress: p.Progress, Total: p.Total,
		})
		if err != nil && ctx.Err() == nil {
			s.report(ctx, s.tool.Name(), fmt.Errorf("progress: %w", err))
		}
	}
}

// advance converts progress to a notification after last; false if it does not grow, because the protocol
// requires that.
func advance(last float64, payload []byte) (progress, bool) {
	var number float64
	if json.Unmarshal(payload, &number) == nil && string(payload) != "null" {
		return progress{Progress: number}, number > last
	}
	var known struct {
		Message  string   `json:"message"`
		Progress *float64 `json:"progress"`
		Total    float64  `json:"total"`
	}
	if json.Unmarshal(payload, &known) == nil && known.Progress != nil {
		return progress{Message: known.Message, Progress: *known.Progress,
			Total: known.Total}, *known.Progress > last
	}
	text := string(payload)
	var words string
	if json.Unmarshal(payload, &words) == nil && string(payload) != "null" {
		text = words
	}
	next := max(math.Floor(last), 0) + 1
	return progress{Message: text, Progress: next}, next > last
}
