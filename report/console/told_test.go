package console_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/report/console"
)

// faulty is a store whose errors have a secret.
type faulty struct {
	journal.Dir
	stats, peek *bool
}

var errFaulty = errors.New("dial db:5432: password=hunter2hunter2 is refused")

func (f faulty) Stats(ctx context.Context, known ...journal.Stat) ([]journal.Stat, error) {
	all, err := f.Dir.Stats(ctx, known...)
	if *f.stats {
		err = errFaulty
	}
	return all, err
}

func (f faulty) Peek(ctx context.Context, session string) (io.ReadCloser, error) {
	if *f.peek {
		return nil, errFaulty
	}
	return f.Dir.Peek(ctx, session)
}

// breaks is a store whose journals cannot be read to their ends.
type breaks struct{ journal.Dir }

func (b breaks) Peek(ctx context.Context, session string) (io.ReadCloser, error) {
	in, err := b.Dir.Peek(ctx, session)
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(io.LimitReader(in, 1000), iotest.ErrReader(errFaulty)), in}, err
}

// Errors of stores are told without the secrets that they may have.
func TestErrorsOfStoresAreToldWithoutSecrets(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "order-7.jsonl", asked(t, "order-7", acme, time.Hour, pay(always)))
	for name, peek := range map[string]bool{"of a store": false, "of a journal": true} {
		fails := new(bool)
		store := faulty{journal.Dir(dir), new(!peek), fails}
		c := open(t, dir, soonAfter, func(s *console.Settings) { s.Stores[0].Store = store })
		ask(t, c, "GET", "/api/sessions")
		*fails = peek
		told := ""
		for _, target := range []string{"/", "/inbox", "/session?id=order-7", "/session?id=nobody", "/api/sessions", "/?q=order"} {
			text := body(t, ask(t, c, "GET", target))
			assert.NotContains(t, text, "hunter2", "%s: %s", name, target)
			told += text
		}
		assert.Contains(t, told, "dial db:5432", name)
	}
	breaking := open(t, dir, soonAfter, func(s *console.Settings) { s.Stores[0].Store = breaks{journal.Dir(dir)} })
	for _, target := range []string{"/", "/session?id=order-7"} {
		page := body(t, ask(t, breaking, "GET", target))
		assert.Contains(t, page, "dial db:5432", target)
		assert.NotContains(t, page, "hunter2", target)
	}
	c := open(t, dir, soonAfter, func(s *console.Settings) { s.Stores[0].Store = faulty{journal.Dir(dir), new(false), new(true)} })
	text := body(t, ask(t, c, "GET", "/"))
	assert.Contains(t, text, "cannot be read: dial db:5432")
	assert.NotContains(t, text, "hunter2")
}
