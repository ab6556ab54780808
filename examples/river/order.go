package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// Payment is what the model asks for.
type Payment struct {
	To  string `json:"to" validate:"required"`
	Sum int    `json:"sum" validate:"min=1"`
}

// due are the payments of each order.
var due = []Payment{{"Ana", 40}, {"Ben", 2}}

// bank is the database of a bank. Like one, it books a payment once for each key.
type bank struct{ pool *pgxpool.Pool }

const bankTable = `CREATE TABLE IF NOT EXISTS payment (
	key text PRIMARY KEY, session text NOT NULL, receiver text NOT NULL, sum int NOT NULL, asked int NOT NULL DEFAULT 1)`

// pay is idempotent by its key, so that it may be called again after its process died in the middle of it.
func (b bank) pay(ctx context.Context, p Payment) (string, error) {
	_, err := b.pool.Exec(ctx, `INSERT INTO payment (key, session, receiver, sum) VALUES ($1, $2, $3, $4)
		ON CONFLICT (key) DO UPDATE SET asked = payment.asked + 1`, tool.IdempotencyKey(ctx), tool.SessionID(ctx), p.To, p.Sum)
	if err != nil {
		return "", err
	}
	return "booked", nil
}

// payer is a scripted model: put one of the adapters here. It pays what is due, one payment after another. At
// times its provider is busy, and at times it writes a sum as a word.
func payer(_ context.Context, req loop.Request) (message.Reply, error) {
	paid := 0
	for _, m := range req.Messages {
		if m.Role == message.Tool && m.Text == "booked" {
			paid++
		}
	}
	corrected := len(req.At) > 0 && req.At[0].Attempt > 1
	switch dice := rand.IntN(100); {
	case dice < 2:
		return message.Reply{}, &fault.RateLimitError{ProviderError: fault.ProviderError{
			Class: fault.RateLimit, StatusCode: 429, RetryAfter: 200 * time.Millisecond}}
	case paid == len(due):
		return message.Reply{Text: "All is paid.", Finish: message.Stop}, nil
	case dice < 20 && !corrected:
		return pays(paid, `{"to":"Ana","sum":"forty"}`), nil
	}
	return pays(paid, fmt.Sprintf(`{"to":%q,"sum":%d}`, due[paid].To, due[paid].Sum)), nil
}

func pays(n int, arguments string) message.Reply {
	return message.Reply{Calls: []message.Call{{ID: fmt.Sprint("c", n), Name: "pay", Arguments: arguments}}, Finish: message.ToolUse}
}
