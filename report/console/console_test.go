package console_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/report/console"
	"github.com/retake-go/retake/tool"
)

const token = "0123456789abcdef0123456789"

// at is a clock that begins at a time.
type at struct{ begin, real time.Time }

func startAt(begin time.Time) at                  { return at{begin, time.Now()} }
func (c at) Now() time.Time                       { return c.begin.Add(time.Since(c.real)) }
func (at) After(d time.Duration) <-chan time.Time { return time.After(d) }

// stories are the journals of package report.
const stories = "../testdata"

// folder has the journals of stories, one that was cut off, and one that is damaged.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, journal.FileName("order-42"), read(t, "long"))
	put(t, dir, journal.FileName("</title><b>evil"), read(t, "hostile"))
	put(t, dir, "damaged.jsonl", bytes.Replace(named(t, "damaged", -1), []byte("Lisbon"), []byte("Lisboa"), 1))
	lines := bytes.SplitAfter(read(t, "long"), []byte("\n"))
	for name, kind := range map[string]string{"waits": `"kind":"wait"`, "runs": `"kind":"run_tools"`, "calls": `"kind":"call_model"`} {
		for n, line := range lines {
			if bytes.Contains(line, []byte(kind)) && n > 3 {
				put(t, dir, name+".jsonl", named(t, name, n+1))
				break
			}
		}
	}
	return dir
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(stories, name+".jsonl"))
	require.NoError(t, err)
	return text
}

// named is the beginning of the long story, as that of another session; of all lines if n is negative.
func named(t testing.TB, session string, n int) []byte {
	t.Helper()
	lines := bytes.SplitAfter(read(t, "long"), []byte("\n"))
	if n < 0 {
		n = len(lines) - 1
	}
	records := make([]string, n)
	for at := range records {
		if records[at] = record(t, lines[at]); strings.HasPrefix(records[at], `{"header"`) {
			records[at] = strings.ReplaceAll(records[at], `"order-42"`, `"`+session+`"`)
		}
	}
	return chain(records...)
}

func put(t testing.TB, dir, name string, text []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
}

// open returns a console of a folder at a time in the stories.
func open(t testing.TB, dir string, change ...func(*console.Settings)) *console.Console {
	t.Helper()
	s := console.Settings{
		Stores: []console.Named{{Name: "runs", Store: journal.Dir(dir)}}, Token: token, Hosts: []string{"127.0.0.1:8080"},
		Clock: startAt(time.Date(2000, 1, 1, 0, 0, 5, 0, time.UTC)),
	}
	for _, f := range change {
		f(&s)
	}
	c, err := console.New(s)
	require.NoError(t, err)
	return c
}

// ask makes a request with the token in the cookie, to an address as it stands on a page.
func ask(t testing.TB, h http.Handler, method, target string, change ...func(*http.Request)) *http.Response {
	t.Helper()
	if !strings.HasPrefix(target, "/") {
		target = "/" + strings.TrimPrefix(target, "./")
	}
	r := httptest.NewRequest(method, target, nil)
	r.Host = "127.0.0.1:8080"
	r.AddCookie(&http.Cookie{Name: "retake8080", Value: token})
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t testing.TB, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(text)
}

// Every path needs the token, the name that is listened on, and an origin of its own.
func TestTheConsoleIsLocked(t *testing.T) {
	c := open(t, folder(t))
	without := func(r *http.Request) { r.Header.Del("Cookie") }
	for name, one := range map[string]struct {
		method, target string
		change         func(*http.Request)
	}{
		"no token":                {"GET", "/", without},
		"no token, API":           {"GET", "/api/sessions", without},
		"no token, stream":        {"GET", "/events", without},
		"no token, style":         {"GET", "/console.css", without},
		"no token, no page":       {"GET", "/nothing", without},
		"no token, answer":        {"POST", "/answer", without},
		"empty token":             {"GET", "/?token=", without},
		"wrong token":             {"GET", "/?token=" + token[1:] + "x", without},
		"longer token":            {"GET", "/?token=" + token + "x", without},
		"wrong query beats":       {"GET", "/?token=wrong", nil},
		"cookie of another port":  {"GET", "/", func(r *http.Request) { without(r); r.AddCookie(&http.Cookie{Name: "retake1", Value: token}) }},
		"rebound name":            {"GET", "/", func(r *http.Request) { r.Host = "evil.example:8080" }},
		"other port":              {"GET", "/", func(r *http.Request) { r.Host = "127.0.0.1:9" }},
		"no name":                 {"GET", "/", func(r *http.Request) { r.Host = "" }},
		"cross-site answer":       {"POST", "/answer", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }},
		"same-site answer":        {"POST", "/answer", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }},
		"no token, words":         {"POST", "/say", without},
		"cross-site words":        {"POST", "/say", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }},
		"words at another name":   {"POST", "/say", func(r *http.Request) { r.Host = "evil.example:8080" }},
		"foreign origin":          {"POST", "/answer", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }},
		"foreign origin, nowhere": {"POST", "/nothing", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }},
		"cross-site colours":      {"POST", "/scheme", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }},
		"an origin that is hid":   {"POST", "/answer", func(r *http.Request) { r.Header.Set("Origin", "null") }},
		"another port":            {"POST", "/answer", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:9") }},
		"token in a foreign form": {"POST", "/answer?token=" + token, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }},
		"foreign delete":          {"DELETE", "/", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }},
	} {
		t.Run(name, func(t *testing.T) {
			change := one.change
			if change == nil {
				change = func(*http.Request) {}
			}
			r := ask(t, c, one.method, one.target, change)
			assert.Equal(t, http.StatusForbidden, r.StatusCode)
			assert.NotContains(t, body(t, r), "order-42")
			assert.Contains(t, r.Header.Get("Content-Security-Policy"), "default-src 'none'")
		})
	}
	assert.Equal(t, http.StatusOK, ask(t, c, "GET", "/").StatusCode)
	assert.Equal(t, http.StatusNotFound, ask(t, c, "GET", "/nothing").StatusCode)
	assert.Equal(t, http.StatusMethodNotAllowed, ask(t, c, "POST", "/").StatusCode)
}

// A browser swaps the token in the address for a cookie. A script need not.
func TestTheTokenLeavesTheAddress(t *testing.T) {
	c := open(t, folder(t))
	r := ask(t, c, "GET", "/?state=done&token="+token, func(r *http.Request) {
		r.Header.Del("Cookie")
		r.Header.Set("Accept", "text/html,*/*")
	})
	assert.Equal(t, http.StatusSeeOther, r.StatusCode)
	assert.Equal(t, "./?state=done", r.Header.Get("Location"))
	assert.Equal(t, "retake8080="+token+"; Path=/; HttpOnly; SameSite=Lax", r.Header.Get("Set-Cookie"))
	assert.Equal(t, "same-origin", r.Header.Get("Referrer-Policy"))
	r = ask(t, c, "GET", "//evil.example/?token="+token, func(r *http.Request) { r.Header.Set("Accept", "text/html") })
	assert.Equal(t, "./evil.example", r.Header.Get("Location"), "it does not lead elsewhere")
	r = ask(t, c, "GET", "/api/sessions?token="+token, func(r *http.Request) { r.Header.Del("Cookie") })
	assert.Equal(t, http.StatusOK, r.StatusCode)
	assert.Contains(t, body(t, r), `{"sessions":[{`)
	r = ask(t, c, "GET", "/?token="+token, func(r *http.Request) { r.Header.Set("Accept", "*/*") })
	assert.Equal(t, http.StatusOK, r.StatusCode)
	assert.Contains(t, r.Header.Get("Set-Cookie"), "HttpOnly; SameSite=Lax", "who asks for anything has the cookie, too")
}

// Cookies are for HTTPS alone where the request came by it, also to a proxy in front.
func TestCookiesAreSecureBehindTLS(t *testing.T) {
	c := open(t, folder(t))
	for proto, secure := range map[string]bool{"": false, "http": false, "https": true, "HTTPS, http": true, "http, https": false} {
		by := func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", proto) }
		said := ask(t, c, "POST", "/scheme", by, func(r *http.Request) {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.PostForm, r.Form = url.Values{}, url.Values{}
		})
		for _, r := range []*http.Response{ask(t, c, "GET", "/?token="+token, by), said} {
			require.Len(t, r.Cookies(), 1)
			assert.Equal(t, secure, r.Cookies()[0].Secure, "X-Forwarded-Proto: %s", proto)
		}
	}
	r := ask(t, c, "GET", "/?token="+token, func(r *http.Request) { r.TLS = &tls.ConnectionState{} })
	assert.True(t, r.Cookies()[0].Secure)
}

// A script need not put the token into an address, which servers write into logs. A proxy may have a token of
// its own.
func TestTheTokenInAHeader(t *testing.T) {
	c := open(t, folder(t))
	bearer := func(value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", value) }
	}
	without := func(r *http.Request) { r.Header.Del("Cookie") }
	assert.Equal(t, http.StatusOK, ask(t, c, "GET", "/api/sessions", without, bearer("Bearer "+token)).StatusCode)
	assert.Equal(t, http.StatusForbidden, ask(t, c, "GET", "/api/sessions", without, bearer("Bearer "+token+"x")).StatusCode)
	assert.Equal(t, http.StatusForbidden, ask(t, c, "GET", "/api/sessions", without, bearer("Basic "+token)).StatusCode)
	assert.Equal(t, http.StatusOK, ask(t, c, "GET", "/", bearer("Bearer of a proxy")).StatusCode)
	assert.Equal(t, http.StatusForbidden, ask(t, c, "POST", "/answer", without, bearer("Bearer "+token), func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }).StatusCode)
}

// Tokens are not taken for money: what a run without prices took says so.
func TestTokensAreSaidWhereThereIsNoPrice(t *testing.T) {
	page := body(t, ask(t, open(t, folder(t)), "GET", "/"))
	assert.Regexp(t, `<td>[0-9,]+ tokens \([0-9,]+\)<td>`, page)
}

// A script finds every key in every session, and an error for a state that is none. A file that is no
// journal hides no other, neither here nor from its page.
func TestTheAPIHasEveryKey(t *testing.T) {
	dir := folder(t)
	put(t, dir, "broken.jsonl", []byte("what is this?\n"))
	c := open(t, dir)
	var answer struct {
		Sessions []map[string]any
		Unread   string
	}
	r := ask(t, c, "GET", "/api/sessions")
	require.Equal(t, http.StatusOK, r.StatusCode)
	require.NoError(t, json.Unmarshal([]byte(body(t, r)), &answer))
	assert.Contains(t, answer.Unread, "broken.jsonl")
	require.NotEmpty(t, answer.Sessions)
	for _, s := range answer.Sessions {
		for _, key := range []string{"id", "state", "why", "until", "in_doubt", "turns", "tokens", "cost_micros", "since", "last"} {
			assert.Contains(t, s, key, s["id"])
		}
	}
	assert.Equal(t, http.StatusOK, ask(t, c, "GET", "/session?id=calls").StatusCode)
	r = ask(t, c, "GET", "/session?id=broken")
	assert.Equal(t, http.StatusInternalServerError, r.StatusCode)
	assert.Contains(t, body(t, r), "broken.jsonl")
	r = ask(t, c, "GET", "/api/sessions?state=sleeping")
	assert.Equal(t, http.StatusBadRequest, r.StatusCode)
	assert.Contains(t, body(t, r), `state: "sleeping": give one of ["asking"`)
}

// Every state has its word, and every row the sentence that says what goes on.
func TestTheStatesOfSessions(t *testing.T) {
	dir := folder(t)
	var answer struct{ Sessions []journal.Summary }
	require.NoError(t, json.Unmarshal([]byte(body(t, ask(t, open(t, dir), "GET", "/api/sessions"))), &answer))
	var told []string
	for _, s := range answer.Sessions {
		told = append(told, fmt.Sprint(s.Session, ": ", s.State, ", ", s.Why, ", turns ", s.Turns, ", tokens ", s.Tokens))
	}
	assert.Equal(t, []string{
		`</title><b>evil: done, {"number":"R-9","total":9} (after 5 corrections), turns 5, tokens 7006`,
		`calls: interrupted, no process since 2000-01-01 00:00:01 UTC; resume it: it goes on with what it began, turns 2, tokens 832`,
		`damaged: failed, cannot be read from line 2, turns 0, tokens 0`,
		`order-42: failed, transport attempt 1 of 3: unknown (this kind of failure is not retried), turns 1, tokens 0`,
		`runs: interrupted, no process since 2000-01-01 00:00:09 UTC; search was to run, and is repeated; resume it, turns 3, tokens 2496`,
		`waits: interrupted, overdue since 2000-01-01 00:00:01 UTC: no process took it up; resume it, turns 1, tokens 832`,
	}, told)
}

// Where some runs have a process and others have just lost theirs, each kind stands by its age.
func TestRowsUnderWayHaveOneOrder(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "1.jsonl", named(t, "1", 11))
	put(t, dir, "3.jsonl", named(t, "3", 3))
	log, err := journal.Dir(dir).Open(t.Context(), "2")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, named(t, "2", 3), false))
	c := open(t, dir)
	ask(t, c, "GET", "/api/sessions") // all were read
	page := body(t, ask(t, c, "GET", "/"))
	var order []string
	for _, row := range strings.Split(page, `<tr id="s0-`)[1:] {
		order = append(order, row[:1])
	}
	assert.Equal(t, []string{"2", "3", "1"}, order)
	require.NoError(t, log.Close())
}

// Of a run that gave up the first thing that was wrong is told.
func TestAFailureSaysWhatWasWrong(t *testing.T) {
	dir := t.TempDir()
	search := tool.New("search", "Searches.", func(context.Context, struct {
		City string `json:"city" validate:"required"`
	}) (string, error) {
		return "", nil
	})
	call := looptest.Call(message.Call{ID: "c1", Name: "search", Arguments: `{}`})
	run(t, journal.Dir(dir), "trip-3", "A room in Faro.", []*tool.Tool{search}, call, call, call)
	page := body(t, ask(t, open(t, dir), "GET", "/api/sessions"))
	assert.Contains(t, page, `"why":"search attempt 3 of 3: tool validation, city missing`)
	assert.Contains(t, page, `(attempts used up)"`)
}

// What a model or a user wrote is text on every page.
func TestPagesEscapeEverything(t *testing.T) {
	c := open(t, folder(t))
	for _, target := range []string{
		"/", "/?q=%3Cscript%3Ealert(1)%3C/script%3E", "/?q=%22%3E%3Cimg+src=x+onerror=alert(1)%3E", "/session?id=%3Cscript%3Ealert(1)",
		"/session?id=" + url.QueryEscape("</title><b>evil") + "&store=runs", "/?sort=%22onload=alert(1)", "/?state=%3Cb%3E",
	} {
		r := ask(t, c, "GET", target)
		page := body(t, r)
		for _, never := range []string{"<script>alert", "<img", "</title><b>", "\x1b", "\u202e", "\u200b", " onerror=alert(1)>", "onload=alert(1)\""} {
			assert.False(t, strings.Contains(strings.ReplaceAll(page, "&lt;img src=x onerror=alert(1)&gt;", ""), never), "%s has %q", target, never)
		}
		policy := r.Header.Get("Content-Security-Policy")
		assert.NotContains(t, policy, "unsafe")
		for _, always := range []string{"default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"} {
			assert.Contains(t, policy, always)
		}
	}
}

// A line that another process writes is told within a second.
func TestANewLineIsTold(t *testing.T) {
	lines := bytes.SplitAfter(read(t, "long"), []byte("\n"))
	client := &http.Client{Timeout: 30 * time.Second}
	for name, want := range map[string]string{"/events?token=" + token: "retry after the backoff delay", "/events?id=order-42&token=" + token: `"waiting"`} {
		dir := t.TempDir()
		log, err := journal.Dir(dir).Open(t.Context(), "order-42")
		require.NoError(t, err)
		half := bytes.Join(lines[:3], nil)
		require.NoError(t, log.Append(t.Context(), 0, half, false))
		server := httptest.NewServer(open(t, dir, func(s *console.Settings) { s.Hosts = nil }))
		defer server.Close()
		r, err := client.Get(server.URL + name)
		require.NoError(t, err)
		assert.Equal(t, "text/event-stream", r.Header.Get("Content-Type"))
		assert.Equal(t, "no", r.Header.Get("X-Accel-Buffering"), "nginx passes on what is told at once")
		in := bufio.NewScanner(r.Body)
		next := func() string {
			for in.Scan() {
				if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
					return data
				}
			}
			return ""
		}
		require.NotContains(t, next(), want)
		text := slices.Concat(lines[3], lines[4][:10]) // and half of the next line
		require.NoError(t, log.Append(t.Context(), int64(len(half)), text, false))
		for said := next(); ; said = next() {
			require.NotEmpty(t, said, "the stream ended")
			if strings.Contains(said, want) {
				break
			}
		}
		require.NoError(t, errors.Join(r.Body.Close(), log.Close()))
	}
}

// The sizes of what is sent keep to their budgets.
func TestBudgets(t *testing.T) {
	c := open(t, folder(t))
	assert.Less(t, len(body(t, ask(t, c, "GET", "/console.css"))), 20<<10)
	assert.Less(t, len(body(t, ask(t, c, "GET", "/console.js"))), 15<<10)

	c = many(t, t.TempDir(), 400)
	page := body(t, ask(t, c, "GET", "/?page=2"))
	assert.Equal(t, 200, strings.Count(page, `<tr id="`))
	assert.Less(t, len(page), 90<<10)
}

// many opens a console of a folder with so many sessions, and waits until it has read them.
func many(t testing.TB, dir string, n int) *console.Console {
	for n := range n {
		id := fmt.Sprintf("%05d", n)
		put(t, dir, id+".jsonl", named(t, id, 4+n%8))
	}
	c := open(t, dir, func(s *console.Settings) { s.Clock = nil })
	for strings.Contains(body(t, ask(t, c, "GET", "/")), " so far: reload") {
	}
	return c
}

// BenchmarkList shows a page of 200 of many sessions that are read.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{2_500, 5_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := many(b, b.TempDir(), n)
			b.ReportAllocs()
			for b.Loop() {
				body(b, ask(b, c, "GET", "/?page=2"))
			}
		})
	}
}

func TestWhatIsWrongWithSettingsIsSaidAtOnce(t *testing.T) {
	_, err := console.New(console.Settings{Token: "short"})
	require.ErrorContains(t, err, "stores: give at least one")
	require.ErrorContains(t, err, "token: has 5 characters, 16 are needed")
	one := console.Named{Store: journal.Dir(".")}
	_, err = console.New(console.Settings{Stores: []console.Named{one, one, {Name: "x"}}})
	require.ErrorContains(t, err, `stores[1].name: "" is there twice`)
	require.ErrorContains(t, err, "stores[2]: the store is nil")
}

// record is the record of a line.
func record(t testing.TB, line []byte) string {
	t.Helper()
	_, rec, ok := strings.Cut(strings.TrimSpace(string(line)), `","record":`)
	require.True(t, ok)
	return rec[:len(rec)-1]
}

// chain returns records as the lines of a journal.
func chain(records ...string) []byte {
	var b bytes.Buffer
	head := strings.Repeat("0", 32)
	for _, rec := range records {
		sum := sha256.Sum256([]byte(head + rec))
		hash := hex.EncodeToString(sum[:16])
		b.WriteString(`{"hash":"` + hash + `","record":` + rec + "}\n")
		if !strings.HasPrefix(rec, `{"note"`) { // no line is chained to a note
			head = hash
		}
	}
	return b.Bytes()
}

func TestNoLogHasTheToken(t *testing.T) {
	s := console.Settings{Stores: []console.Named{{Store: journal.Dir(".")}}, Token: token}
	c, err := console.New(s)
	require.NoError(t, err)
	for _, v := range []any{s, &s, c} {
		assert.NotContains(t, fmt.Sprintf("%v %+v %#v %s", v, v, v, v), token)
	}
	said, err := json.Marshal(s)
	require.NoError(t, err)
	assert.NotContains(t, string(said), token)
	assert.Contains(t, fmt.Sprintf("%+v", s), "Token:[key left out]")
}
