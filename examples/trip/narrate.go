package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/session"
)

// narration prints what happens on out.
type narration struct {
	out io.Writer

	mu   sync.Mutex
	last ratelimit.State
}

// limits keeps the rate limits of the last response.
func (n *narration) limits(s ratelimit.State) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = s
}

// of wraps a model and prints its prompts and replies.
func (n *narration) of(m loop.Model) loop.Model {
	shown := 0
	return loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
		for _, said := range req.Messages[shown:] {
			if said.Role != message.Assistant {
				n.line("-> "+string(said.Role), said.Text)
			}
		}
		shown = len(req.Messages)
		reply, err := m.Reply(ctx, req)
		if err != nil {
			n.line("!! failed", err.Error())
		}
		for _, c := range reply.Calls {
			n.line("<- calls", c.Name+" "+c.Arguments)
		}
		if text := cmp.Or(reply.Text, reply.Refusal); text != "" {
			n.line("<- says", text)
		}
		return reply, err
	})
}

func (n *narration) line(who, text string) {
	fmt.Fprintf(n.out, "%-9s %s\n", who, strings.ReplaceAll(text, "\n", "\n          "))
}

func (n *narration) outcome(a loop.Answer[Itinerary]) {
	v := a.Value
	fmt.Fprintf(n.out, "\nBooked: %s, %s, %s room, %d nights, %d euros, receipt %s\n", v.City, v.Hotel, v.Room, v.Nights, v.Euros, v.Receipt)
}

// end prints all attempts, good and bad, and their cost.
func (n *narration) end(attempts []session.Attempt, u message.Usage) {
	fmt.Fprintln(n.out, "\nAttempts:")
	for _, a := range attempts {
		verdict := "passed"
		if a.Class != "" {
			verdict = fmt.Sprintf("%s (%s), then %s", a.Class, a.Plane, a.Reason.Phrase())
		}
		fmt.Fprintf(n.out, "  %-10s %d of %d: %s\n", cmp.Or(a.Action, "answer"), a.Attempt, a.MaxAttempts, verdict)
		for _, issue := range a.Issues {
			fmt.Fprintf(n.out, "    %s %s: expected %s\n", cmp.Or(issue.Pointer, "(whole)"), issue.Rule, cmp.Or(issue.Expected, "otherwise"))
		}
	}
	fmt.Fprintf(n.out, "Usage: %d calls of the model, %d tokens in (%d from the cache), %d out\n",
		u.APICalls, u.InputTokens, u.CacheReadTokens, u.OutputTokens)
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.last.Windows {
		if w.Remaining.Known && w.Limit.Known {
			fmt.Fprintf(n.out, "Rate limit: %d of %d %s left\n", w.Remaining.N, w.Limit.N, w.Name)
		}
	}
}
