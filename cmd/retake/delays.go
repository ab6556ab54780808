package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

var delaysCommand = command{
	name:    "delays",
	summary: "shows the waits of a policy, attempt by attempt",
	example: "retake delays -policy policy.yaml -tool book_room -seed order-42",
	usage: []string{
		"delays -policy FILE|preset:NAME [-code CODE] [-tool NAME] [-seed S] [-attempts N] [-json]",
	},
	about: `
Shows the wait after each failed attempt except the last.

With -seed the waits are those of loop.Do without a session. Without it they are shown before jitter. A run
always uses jitter: it draws it from its seed, or else from the id of its session. Each wait lies between min
and max for any seed. Deadlines and the waits that servers ask for (retry-after) are not taken into account.

The layers of a file are those of a run. A -code of the transport plane uses "transport", and the layer of
-tool under "tool_transport" on top of it; in a file without them, "global" if that retries the code. Any
other code uses "global", and on top of it the layer of -tool under "tools", or "answer" without -tool. A note
on standard error says so if the policy does not retry CODE, or if its max_total_delay ends the attempts
earlier.

JSON: {"policy", "seed", "delays": [{"attempt", "delay_ms", "min_ms", "max_ms"}, ...], "total_ms"}. "seed" is
absent without -seed. Milliseconds are exact decimals.`,
	task: newTask[delays],
}

type delays struct {
	jsonAnswer
	policyFlag
	Code     string `flag:"code CODE" help:"what failed: a CODE such as llm-rate-limit or RATE_LIMITED, or a class"`
	Tool     string `flag:"tool NAME" help:"the tool of this NAME and its layer of the file"`
	Seed     string `flag:"seed S" help:"draw the jitter from the seed S; without it, show the waits before jitter"`
	Attempts count  `flag:"attempts N" help:"as if the policy allowed N attempts"`
}

// schedule is the answer as JSON.
type schedule struct {
	Policy string      `json:"policy"`
	Seed   string      `json:"seed,omitempty"`
	Delays []delay     `json:"delays"`
	Total  json.Number `json:"total_ms"`
}

// delay is the wait after a failed attempt, and the shortest and the longest one for any seed.
type delay struct {
	Attempt int         `json:"attempt"`
	Delay   json.Number `json:"delay_ms"`
	Min     json.Number `json:"min_ms"`
	Max     json.Number `json:"max_ms"`

	wait, least, most time.Duration
}

func (d *delays) run(e *env) error {
	if d.Policy == "" {
		return misused("-policy is missing: give a file, or preset:NAME")
	}
	from, err := readPolicy("-policy", d.Policy)
	if err != nil {
		return err
	}
	p, class, plane, err := d.resolve(from)
	if err != nil {
		return err
	}
	if _, layered := from.set.Tools[d.Tool]; d.Tool != "" && !layered && plane == fault.Correction {
		e.note("-policy has no layer for the tool %q: these are the waits of a tool without one", d.Tool)
	}
	rows, err := d.rows(p, class, plane)
	if err != nil {
		return err
	}
	d.warn(e, p, class, rows)
	if d.JSON {
		return e.json(schedule{d.Policy, d.Seed, rows, millis(total(rows))})
	}
	d.chart(e, p, class, rows)
	return nil
}

// resolve finds the policy that decides on the failure, its class, and its plane.
func (d *delays) resolve(from policies) (
	p policy.RetryPolicy, class fault.Class, plane fault.Plane, err error,
) {
	set, isPreset, plane := from.set, from.plane != "", cmp.Or(from.plane, fault.Correction)
	if isPreset && d.Tool != "" {
		return p, "", "", misused("-tool: a preset has no layers: give -policy a file")
	}
	p = set.Policy(policy.Target{Plane: plane, Tool: d.Tool})
	transport := set.Policy(policy.Target{Plane: fault.Transport, Tool: d.Tool})
	if class, err = d.class(p); err != nil { // one of the user's own may be of the transport plane alone
		class, err = d.class(transport)
		return transport, class, fault.Transport, err
	}
	if isPreset || class.Plane() != fault.Transport {
		return p, class, plane, nil
	}
	if _, own := set.ToolTransport[d.Tool]; own || !set.Transport.IsZero() || !p.Retries(class) {
		p = transport
	}
	return p, class, fault.Transport, nil
}

// class returns the class that -code names: in one of the vocabularies, or in the policy.
func (d *delays) class(p policy.RetryPolicy) (fault.Class, error) {
	own := fault.Class(d.Code)
	if _, based := p.Bases[own]; d.Code == "" || based || p.Retries(own) {
		return own, nil
	}
	if class, ok := fault.ParseName(d.Code); ok {
		return class, nil
	}
	return "", misused("-code: %q is no code of any vocabulary, and no class of the policy: "+
		"give one such as rate_limit, llm-timeout or NETWORK_ERROR", d.Code)
}

// maxDelays is the most waits that are shown.
const maxDelays = 10_000

func (d *delays) rows(p policy.RetryPolicy, class fault.Class, plane fault.Plane) ([]delay, error) {
	attempts := cmp.Or(int(d.Attempts), p.MaxAttempts)
	switch {
	case attempts == policy.Unlimited:
		return nil, misused("-attempts is missing: the policy's attempts are unlimited: say how many to show")
	case attempts > maxDelays+1:
		return nil, misused("%d attempts are too many to show: give -attempts of at most %d", attempts, maxDelays+1)
	}
	number := 1 // as loop.Do numbers the lines of the two planes
	if plane == fault.Transport {
		number = 0
	}
	key, waits := machine.JitterKey(d.Seed, number, d.Tool, plane), p.BackoffOf(class)
	rows := make([]delay, attempts-1)
	for n := range rows {
		wait := waits.After(n+1, key)
		least, most := waits.Bounds(n + 1)
		rows[n] = delay{n + 1, millis(wait), millis(least), millis(most), wait, least, most}
	}
	return rows, nil
}

// warn says so if the policy would not make these waits.
func (d *delays) warn(e *env, p policy.RetryPolicy, class fault.Class, rows []delay) {
	if d.Code != "" && !p.Retries(class) {
		e.note("the policy does not retry %s: these are the waits it would make if it did", class)
	}
	if p.OptOut {
		e.note("the policy opts out of retries: these are the waits it would make if it did not")
	}
	if p.MaxTotalDelay == policy.Unlimited {
		return
	}
	var waited time.Duration
	for _, r := range rows {
		if r.wait > p.MaxTotalDelay-waited {
			e.note("max_total_delay %s ends it after attempt %d: the waits from there on are not made",
				p.MaxTotalDelay, r.Attempt)
			return
		}
		waited += r.wait
	}
}

// millis returns a duration as an exact decimal of milliseconds: "500", "0.25".
func millis(d time.Duration) json.Number { return json.Number(canon.InUnits(d, time.Millisecond)) }

// total returns the sum of the waits, or the longest duration if it is more.
func total(rows []delay) (sum time.Duration) {
	for _, r := range rows {
		sum = backoff.Sum(sum, r.wait)
	}
	return sum
}

// chart writes the waits as a bar chart.
func (d *delays) chart(e *env, p policy.RetryPolicy, class fault.Class, rows []delay) {
	longest, jittered := time.Duration(0), false
	for _, r := range rows {
		longest, jittered = max(longest, r.wait), jittered || r.least != r.most
	}
	title := e.bold(plain(d.title(class, len(rows)+1, jittered)))
	e.printf("%s\n%s\n\n", title, e.faint(p.Backoff.String()))
	e.print(columns(func(w io.Writer) {
		for _, r := range rows {
			spread := ""
			if r.least != r.most {
				spread = fmt.Sprintf("(%s to %s)", r.least, r.most)
			}
			wait := e.cyan(bar(r.wait, longest))
			fmt.Fprintf(w, "  after attempt %d\t%s\t%s\t%s\n", r.Attempt, r.wait, spread, wait)
		}
	}))
	if len(rows) > 0 {
		e.println()
	}
	e.printf("total %s\n", e.bold(total(rows).String()))
}

func (d *delays) title(class fault.Class, attempts int, jittered bool) string {
	parts := []string{d.Policy}
	if d.Tool != "" {
		parts = append(parts, "tool "+d.Tool)
	}
	if class != "" {
		parts = append(parts, string(class))
	}
	parts = append(parts, several.Of(attempts, "attempt"))
	if d.Seed != "" {
		parts = append(parts, fmt.Sprintf("seed %q", d.Seed))
	} else if jittered {
		parts = append(parts, "before jitter")
	}
	return strings.Join(parts, ", ")
}
