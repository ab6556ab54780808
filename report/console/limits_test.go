package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/report/console"
)

func TestAPoolsOwnLimiterIsShown(t *testing.T) {
	p, err := loop.NewPool(loop.PoolConfig{Model: looptest.NewModel()})
	require.NoError(t, err)
	_, known := p.Limiter().Ask(limiter.Ask{Scope: "m"}, func(limiter.Answer) {})
	require.True(t, known)
	c, err := console.New(console.Settings{Stores: []console.Named{{Store: journal.Dir(t.TempDir())}}, Token: token, Limits: p.Limiter()})
	require.NoError(t, err)
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/limits?token="+token, nil))
	assert.Contains(t, w.Body.String(), "any, until a retry is refused")
}

func TestTheLimitsOfAMountedLimiterAreShown(t *testing.T) {
	l, err := limiter.New(limiter.Config{Limit: limit.Config{
		Windows: []limit.Window{{Resource: "input_tokens", Limit: 6000, Period: time.Minute}}, Concurrency: 1, Failures: 1,
	}})
	require.NoError(t, err)
	stores := []console.Named{{Store: journal.Dir(t.TempDir())}}
	c, err := console.New(console.Settings{Stores: stores, Token: token, Limits: l})
	require.NoError(t, err)
	get := func(c *console.Console, target string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		return w
	}
	assert.Equal(t, http.StatusForbidden, get(c, "/limits").Code, "it is locked as all is")
	assert.Contains(t, get(c, "/limits?token="+token).Body.String(), "No call has asked the limiter")

	granted, known := l.Ask(limiter.Ask{Scope: "<b>m"}, func(limiter.Answer) {})
	require.True(t, known)
	_, known = l.Ask(limiter.Ask{Scope: "<b>m"}, func(limiter.Answer) {})
	require.False(t, known)
	page := get(c, "/limits?token="+token)
	assert.Equal(t, "2", page.Header().Get("Refresh"))
	assert.Contains(t, page.Body.String(), "<td dir=\"auto\">&lt;b&gt;m<td>closed<td>6000 input tokens in 1m0s<td>1<td>1<td>none<td>")
	l.Settle(granted.Grant, limiter.Use{Outcome: limit.Down})
	assert.Contains(t, get(c, "/limits?token="+token).Body.String(), "<td>open since ")
	assert.Contains(t, get(c, "/?token="+token).Body.String(), `<a href="limits">`)

	without, err := console.New(console.Settings{Stores: stores, Token: token})
	require.NoError(t, err)
	assert.Equal(t, http.StatusNotFound, get(without, "/limits?token="+token).Code)
	assert.NotContains(t, get(without, "/?token="+token).Body.String(), `"limits"`)
}

// gone is a store that cannot be reached.
type gone struct{}

func (gone) Load(context.Context, string) (limiter.Record, error) {
	return limiter.Record{}, errors.New("no route to it")
}
func (gone) Swap(context.Context, string, int64, []byte) (bool, error) {
	return false, errors.New("no route to it")
}

func TestALostStoreLeavesAPartOfTheLimits(t *testing.T) {
	l, err := limiter.New(limiter.Config{Store: gone{}, Processes: 3, Limit: limit.Config{
		Windows: []limit.Window{{Resource: "requests", Limit: 600, Period: time.Minute}},
	}})
	require.NoError(t, err)
	granted := make(chan limiter.Answer, 1)
	_, known := l.Ask(limiter.Ask{Scope: "m"}, func(a limiter.Answer) { granted <- a })
	require.False(t, known)
	<-granted
	c, err := console.New(console.Settings{Stores: []console.Named{{Store: journal.Dir(t.TempDir())}}, Limits: l})
	require.NoError(t, err)
	page := body(t, ask(t, c, "GET", "/limits"))
	assert.Contains(t, page, "<td>closed; the store is lost: this process keeps to 1/3<td>600 requests in 1m0s<td>0<td>1<td>")
	assert.Contains(t, page, " unused; shared by 1 process<td>3.3 calls a second")
}
