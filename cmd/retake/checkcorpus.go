package main

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/loop"
)

// corpusVerdict is the verdict on one reply of a corpus.
type corpusVerdict struct {
	Question string `json:"question"`
	Reply    int    `json:"reply"`
	verdict
}

func (c *check) runCorpus(e *env, cfg loop.Config) error {
	f, err := openCorpus(c.corpus)
	if err != nil {
		return err
	}
	defer f.Close()
	seen := progressOf(e, "replies")
	defer seen.done()
	sum := tally{classes: map[fault.Class]int{}}
	work := func(l rawLine) ([]corpusVerdict, error) { return c.judgeLine(l, cfg) }
	err = inOrder(lines(c.corpus, f, 0), work, func(verdicts []corpusVerdict) error {
		for _, v := range verdicts {
			seen.step()
			sum.add(v.verdict)
			if !c.json {
				v.write(e)
			} else if err := e.json(v); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && !c.json {
		fmt.Fprintf(e.out, "\n%s\n", sum)
	}
	return err
}

// judgeLine judges all replies to one question.
func (c *check) judgeLine(l rawLine, cfg loop.Config) ([]corpusVerdict, error) {
	q, err := l.parse()
	if err != nil {
		return nil, err
	}
	cfg.Tools = q.tools
	verdicts := make([]corpusVerdict, len(q.replies))
	for n, r := range q.replies {
		if c.cut != nil {
			r.Text = cutText(r.Text, c.cut)
		}
		v, err := judge(cfg, r)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: replies[%d]: %w", l.file, l.number, n, err)
		}
		verdicts[n] = corpusVerdict{q.id, n, v}
	}
	return verdicts, nil
}

// cutText is the first share of a text's characters, rounded down.
func cutText(text string, share *big.Rat) string {
	keep := new(big.Int).Mul(big.NewInt(int64(utf8.RuneCountInString(text))), share.Num())
	left := keep.Quo(keep, share.Denom()).Int64()
	for at := range text {
		if left == 0 {
			return text[:at]
		}
		left--
	}
	return text
}

// write shows the verdict as one line.
func (v corpusVerdict) write(e *env) {
	mark, what := e.paint.green("ok    "), v.names()
	if !v.OK {
		mark, what = e.paint.red("not ok"), string(v.Class)
		for _, i := range v.Issues {
			what += "; " + plain(i.text)
		}
	}
	fmt.Fprintf(e.out, "%s  %-28s  %s\n", mark, plain(v.Question)+fmt.Sprintf("/%d", v.Reply), what)
}

func (v verdict) names() string {
	names := make([]string, len(v.Calls))
	for n, c := range v.Calls {
		names[n] = c.Tool
	}
	return strings.Join(names, ", ")
}

// tally counts verdicts.
type tally struct {
	replies, ok int
	classes     map[fault.Class]int
}

func (t *tally) add(v verdict) {
	t.replies++
	if v.OK {
		t.ok++
		return
	}
	t.classes[v.Class]++
}

// String is the tally for people: "12 replies: 10 ok, 2 not ok (tool_validation 2)".
func (t tally) String() string {
	text := fmt.Sprintf("%s: %d ok, %d not ok", several.Of(t.replies, "reply", "replies"), t.ok, t.replies-t.ok)
	var classes []string
	for _, c := range slices.Sorted(maps.Keys(t.classes)) {
		classes = append(classes, fmt.Sprintf("%s %d", c, t.classes[c]))
	}
	if classes != nil {
		text += " (" + strings.Join(classes, ", ") + ")"
	}
	return text
}
