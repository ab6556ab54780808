package report

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report/internal/told"
)

// cutWords say what a cut does with messages.
var cutWords = []struct {
	step policy.ContextStep
	word string
}{
	{policy.Fold, "folded"}, {policy.ClearResults, "results replaced by notes"},
	{policy.Summarise, "summed up"}, {policy.Window, "left out"},
}

func (r *run) shortened(ev *machine.Event) entry { return r.cut(ev.Cut) }

// cut makes the entry of a prompt that was made shorter.
func (r *run) cut(c *projection.CutPlan) entry {
	if len(c.Cuts) == 0 && c.Summarise == nil {
		return entry{Kind: shortened}.says("nothing can be left out")
	}
	var more []string
	for _, w := range cutWords {
		var of []string
		for _, cut := range c.Cuts {
			if place := r.place(cut.From, cut.To); cut.Step == w.step && !slices.Contains(of, place) {
				of = append(of, place)
			}
		}
		more = append(more, after(w.word+": ", told.Clip(strings.Join(of, ", "), maxShown)))
	}
	if s := c.Summarise; s != nil {
		more = append(more, "to be summed up: "+r.place(s.From, s.To))
	}
	e := entry{Kind: shortened, good: true, shown: r.page.cuts(c.Cuts)}
	return e.says(fmt.Sprintf("shorter by %s, %s left", sizeText(c.Freed), sizeText(c.Size)), more...)
}

func (r *run) summarised(ev *machine.Event) entry {
	r.spend(ev.Summary.Usage)
	if f := ev.Failure; f != nil {
		return entry{Kind: shortened, bad: true}.says("the summary failed: "+string(f.Class), failureText(f))
	}
	return r.cut(ev.Cut)
}

// place names the model calls to which the messages [from, to) belong.
func (r *run) place(from, to int) string {
	call := func(message int) int { return sort.SearchInts(r.sizes, message+1) }
	first, last := call(from), call(to-1)
	switch {
	case last == 0:
		return "what was said before"
	case first == 0:
		return fmt.Sprintf("all up to call %d", last)
	case first == last:
		return fmt.Sprintf("call %d", first)
	}
	return fmt.Sprintf("calls %d to %d", first, last)
}

// cuts shows what stands in the place of messages.
func (p *pager) cuts(all []projection.Cut) *details {
	if p == nil {
		return nil
	}
	d := &details{}
	for _, c := range all {
		d.show(p.text("in the prompt instead", c.Text, nil))
	}
	return p.done(d)
}
