package console_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// lineOf finds the rows of a list and what is folded.
var lineOf = regexp.MustCompile(`<tr id="s0-([^"]*)"(?: class="([^"]*)")?>|<tr class="more"><td colspan="7"><a href="([^"]*)">([^<]*)<`)

// linesOf are the rows of a list: their sessions with their classes, and what is folded.
func linesOf(page string) (all []string) {
	for _, m := range lineOf.FindAllStringSubmatch(page, -1) {
		all = append(all, strings.TrimSpace(m[1]+" "+m[2]+m[4]))
	}
	return all
}

// made is the beginning of the long story, as that of an agent.
func made(t testing.TB, session string, n int) []byte {
	t.Helper()
	var records []string
	for line := range bytes.Lines(named(t, session, n)) {
		records = append(records, record(t, line))
	}
	records[0] = strings.Replace(records[0], `"seed":"7"`, `"seed":"7.`+session+`"`, 1)
	return chain(records...)
}

// Agents' sessions stand below those in which they were made. More than three are folded, and a family stands
// where the first of its sessions would.
func TestAgentsStandBelowTheirSessions(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("l", 120)
	for n, id := range []string{
		"trip-9", "trip-9.1.2.1", "trip-9.1.2.1.1.1.1", "alone.1.1.1", "trip-9.x.1.1", "trip-9.1.0.1", "trip-10",
		long, machine.ChildID(long, 12, 345, 6),
	} {
		put(t, dir, id+".jsonl", made(t, id, 4+n%2))
	}
	c := open(t, dir)
	ask(t, c, "GET", "/api/sessions") // all is read
	page := body(t, ask(t, c, "GET", "/"))
	all := strings.Join(linesOf(page), "\n")
	assert.Contains(t, all, "trip-9\ntrip-9.1.2.1 in in1\ntrip-9.1.2.1.1.1.1 in in2", "%s", all)
	digested := machine.ChildID(long, 12, 345, 6)
	assert.Contains(t, all, long+"\n"+digested+" in in1")
	assert.Contains(t, body(t, ask(t, c, "GET", "/session?id="+digested)), `<a href="session?id=`+long+`" dir="auto">`)
	assert.Contains(t, stream(t, c, "/events?id="+long)(), `"agents":4`, "its lines are new on the page of its session")
	for _, own := range []string{"alone.1.1.1", "trip-9.x.1.1", "trip-9.1.0.1", "trip-10"} {
		assert.Contains(t, linesOf(page), own, "it is in no session")
	}

	for n := range 5 {
		id := fmt.Sprintf("trip-9.1.3.%d", n+1)
		put(t, dir, id+".jsonl", made(t, id, 4))
	}
	c = open(t, dir)
	ask(t, c, "GET", "/api/sessions")
	page = body(t, ask(t, c, "GET", "/"))
	assert.Contains(t, linesOf(page), "3 more agents")
	assert.Contains(t, page, `<a href="./?inside=trip-9">3 more agents`)
	assert.Len(t, linesOf(body(t, ask(t, c, "GET", "/?inside=trip-9"))), 8)
	page = body(t, ask(t, c, "GET", "/?sort=session&inside=trip-9"))
	assert.Len(t, linesOf(page), 8, "a sorted list is flat")
	assert.Contains(t, page, `aria-sort="ascending"><a href="./?inside=trip-9">Session`)
	assert.Contains(t, body(t, ask(t, c, "GET", "/?sort=last")), `aria-sort="descending"`)

	var answer struct {
		Sessions []struct{ ID, Inside string }
	}
	require.NoError(t, json.Unmarshal([]byte(body(t, ask(t, c, "GET", "/api/sessions?inside=trip-9"))), &answer))
	require.Len(t, answer.Sessions, 8)
	assert.Equal(t, "trip-9.1.2.1", answer.Sessions[2].Inside)
}

// A user may give a session any id. What was made in no call is nobody's agent.
func TestAnIdAloneMakesNoAgent(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"trip-9", "trip-9.1.2.1"} {
		put(t, dir, id+".jsonl", named(t, id, 4))
	}
	c := open(t, dir)
	assert.NotContains(t, body(t, ask(t, c, "GET", "/api/sessions")), `"inside"`)
	assert.Equal(t, []string{"trip-9", "trip-9.1.2.1"}, linesOf(body(t, ask(t, c, "GET", "/"))))
}

// An agent that fits a filter is shown below its session, in grey if that does not fit, and makes the family
// urgent if it asks.
func TestAnAgentThatFitsIsShownBelowItsSession(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "trip-9.jsonl", named(t, "trip-9", -1)) // it has ended
	put(t, dir, "trip-8.jsonl", named(t, "trip-8", -1))
	put(t, dir, "trip-9.1.2.1.jsonl", askedWith(t, session.Config{ID: "trip-9.1.2.1", Seed: "trip-9.1.2.1"}, `{"to":"ACME","cents":1,"currency":"EUR"}`, 0, pay(always)))
	c := open(t, dir)
	ask(t, c, "GET", "/api/sessions")
	assert.Equal(t, []string{"trip-9", "trip-9.1.2.1 in in1", "trip-8"}, linesOf(body(t, ask(t, c, "GET", "/"))))
	page := body(t, ask(t, c, "GET", "/?state=asking"))
	assert.Equal(t, []string{"trip-9 grey", "trip-9.1.2.1 in in1"}, linesOf(page))
	assert.Contains(t, page, "Needs a person, 1")
}

// The filters by a value say how many sessions have each, and stay in the address.
func TestFiltersByAValue(t *testing.T) {
	dir := folder(t)
	put(t, dir, "asks.jsonl", asked(t, "asks", `{"to":"ACME","cents":1,"currency":"EUR"}`, 0, pay(always)))
	c := open(t, dir)
	ask(t, c, "GET", "/api/sessions")
	page := body(t, ask(t, c, "GET", "/"))
	for _, want := range []string{
		`<select name="tool"><option value="">any</option>`, `<option value="book_room">book_room (`,
		`<select name="class">`, `<option value="unknown">unknown (1)</option>`, `<select name="end">`,
		`<select name="wait">`, `<option value="person">a person (1)</option>`, `<select name="age">`,
	} {
		assert.True(t, strings.Contains(page, want), want)
	}
	assert.NotContains(t, page, `<select name="store">`, "there is one only")
	for query, want := range map[string][]string{
		"wait=person": {"asks"}, "class=unknown": {"order-42"}, "tool=pay": {"asks"}, "tool=pay&state=failed": nil,
		"age=older": {"damaged"},
	} {
		page := body(t, ask(t, c, "GET", "/?"+query))
		assert.Equal(t, want, linesOf(page), query)
		assert.Contains(t, page, `data-live="events?`)
	}
	page = body(t, ask(t, c, "GET", "/?tool=pay&state=failed&q=x"))
	assert.Contains(t, page, `<option value="pay" selected>pay (1)</option>`)
	assert.Contains(t, page, `<input type="hidden" name="state" value="failed">`)
	assert.Contains(t, page, "0 of 7 match")
	assert.Contains(t, page, `<a href="./?q=x&amp;state=failed">with any tool (not pay)</a>`)
}

// What an address says that is no filter is an error that says what would be right, wherever it is asked.
func TestAWrongFilterIsAClearError(t *testing.T) {
	c := open(t, folder(t))
	for query, want := range map[string]string{
		"state=sleeping": `state: "sleeping": give one of ["asking"`,
		"sort=size":      `sort: "size": give one of ["attempt" "began"`,
		"age=10":         `age: "10": give one of ["hour" "day" "week" "older"]`,
		"store=other":    `store: "other": give one of ["runs"]`,
		"doubt=yes":      `doubt: "yes": give one of ["1"]`,
		"page=0":         `page: "0": give a number from 1`,
		"page=many":      `page: "many": give a number from 1`,
		"state=%zz":      `the query cannot be read: invalid URL escape "%zz"`,
		"a;state=done":   `the query cannot be read: invalid semicolon separator`,
		"stat=done":      `"stat" is no filter: give one of ["q" "state"`,
	} {
		for _, path := range []string{"/api/sessions?", "/events?", "/?"} {
			r := ask(t, c, "GET", path+query)
			assert.Equal(t, http.StatusBadRequest, r.StatusCode, path+query)
			text := strings.NewReplacer("&#34;", `"`).Replace(body(t, r))
			assert.Contains(t, text, want, path)
		}
	}
	page := body(t, ask(t, c, "GET", "/?state=sleeping"))
	assert.NotEmpty(t, linesOf(page), "the list is there all the same")
}
