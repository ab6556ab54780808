package file_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/internal/fields"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
)

// keyDoc is what the page says of a key beside its default.
type keyDoc struct{ is, unit, example string }

var ofSet = map[string]keyDoc{
	"global":         {"a layer for every action of the run", "layer", "global: {max_attempts: 4}"},
	"tools":          {"layers for calls of single tools", "name: layer", "tools: {pay: {max_attempts: 2}}"},
	"answer":         {"a layer for the final answer", "layer", "answer: {max_attempts: 5}"},
	"call":           {"a layer of the caller, for this run", "layer", "call: {opt_out: true}"},
	"adjusted":       {"a layer that was set during the run", "layer", "adjusted: {max_attempts: 6}"},
	"transport":      {"a layer for requests that fail", "layer", "transport: {model_timeout: 60s}"},
	"tool_transport": {"layers for runs of single tools that fail", "name: layer", "tool_transport: {search: {tool_timeout: 10s}}"},
	"budgets":        {"bounds of failed attempts", "see [budgets](#budgets)", "budgets: {run: 12}"},
	"prices":         {"what models cost, by the providers' names; a name that is not there has the price of the longest one that it extends by a version: `gpt-4o-2024-08-06` has that of `gpt-4o`, and `gpt-4o-mini` has none", "model: [price](#prices)", "prices: {gpt-4o: {input: 2500000, output: 10000000}}"},
	"spending":       {"bounds of the tokens and the money of model calls", "see [spending](#spending)", "spending: {run: {cost: 50000}}"},
	"context":        {"how prompts are kept within the window of their model", "see [context](#context)", "context: {from: 60, to: 40}"},
	"max_turns":      {"the most successful model calls of a run", "count from 1, `unlimited`", "max_turns: 20"},
	"max_calls":      {"the most tool calls of one reply, 1000 at most; a reply with more is refused whole", "count from 1, `unlimited`", "max_calls: 16"},
	"all_or_nothing": {"the calls of a reply run only if all are valid", "`true`, `false`", "all_or_nothing: true"},
}

var ofFleet = map[string]keyDoc{
	"limit":     {"what the limiter of each scope starts with", "see [limits of a scope](#limits-of-a-scope)", "fleet: {limit: {concurrency: 20}}"},
	"scopes":    {"the same for single scopes, by name; such a scope has nothing of `limit`", "name: [limits of a scope](#limits-of-a-scope)", "fleet: {scopes: {openai/gpt-4.1: {concurrency: 5}}}"},
	"max_wait":  {"the longest wait of a call; a longer one is denied", "duration above 0", "fleet: {max_wait: 2m}"},
	"processes": {"how many processes share a store; it matters while the store cannot be reached", "count from 1 to 1000", "fleet: {processes: 8}"},
}

var ofLimit = map[string]keyDoc{
	"windows":     {"known limits; those that responses tell need not be given", "list of at most 8 [windows](#windows)", "fleet: {limit: {windows: [{resource: requests, limit: 500, period: 1m}]}}"},
	"concurrency": {"the most calls in flight", "count from 1", "fleet: {limit: {concurrency: 20}}"},
	"parts":       {"how many limiters know nothing of each other: each keeps to its part of all limits", "count from 1 to 1000", "fleet: {limit: {parts: 4}}"},
	"start":       {"the first pace while no limit is known", "calls a second, from 1", "fleet: {limit: {start: 10}}"},
	"open":        {"lets all calls pass until one that failed before is refused or finds the provider down, or a response tells a limit", "true or false", "fleet: {limit: {open: true}}"},
	"ramp":        {"the time in which the pace may double while no limit is known, also after an outage", "duration above 0", "fleet: {limit: {ramp: 2s}}"},
	"max_waiting": {"the most calls that wait; one more is denied", "count from 1", "fleet: {limit: {max_waiting: 10000}}"},
	"hold":        {"the time after which a call that nobody settled is lost", "duration above 0", "fleet: {limit: {hold: 5m}}"},
	"yield":       {"how much a session goes back in the queue for each call it made, of which ten count", "duration above 0", "fleet: {limit: {yield: 500ms}}"},
	"failures":    {"the calls in a row that find the provider down, after which the breaker opens", "count from 1", "fleet: {limit: {failures: 5}}"},
	"probe_every": {"the time between probes while the breaker is open", "duration above 0", "fleet: {limit: {probe_every: 5s}}"},
	"give_up":     {"how long the breaker may be open before calls are denied", "duration above 0", "fleet: {limit: {give_up: 6h}}"},
}

var ofWindow = map[string]keyDoc{
	"resource": {"what is counted", "`requests`, `tokens`, `input_tokens`", "fleet: {limit: {windows: [{resource: tokens, limit: 200000, period: 1m}]}}"},
	"limit":    {"how many of them in each period", "count from 1", "fleet: {limit: {windows: [{resource: requests, limit: 5, period: 1s}]}}"},
	"period":   {"the length of the window", "duration from 1ms to 744h", "fleet: {limit: {windows: [{resource: requests, limit: 10000, period: 24h}]}}"},
}

var ofBudgets = map[string]keyDoc{
	"tool":          {"failed attempts of each tool", "count from 0, `unlimited`", "budgets: {tool: 2}"},
	"run":           {"failed attempts of the whole run", "count from 0, `unlimited`", "budgets: {run: 12}"},
	"unknown_tools": {"failed attempts of all unknown names together", "count from 0, `unlimited`", "budgets: {unknown_tools: 0}"},
}

var ofPrice = map[string]keyDoc{
	"input":          {"tokens of prompts", "millionths of a unit of money for a million tokens", "prices: {m: {input: 3000000}}"},
	"output":         {"tokens of replies", "the same", "prices: {m: {output: 15000000}}"},
	"cache_read":     {"tokens of prompts that were read from a cache", "the same", "prices: {m: {input: 3000000, cache_read: 300000}}"},
	"cache_write":    {"tokens of prompts that were written to a cache", "the same", "prices: {m: {input: 3000000, cache_write: 3750000}}"},
	"reasoning":      {"tokens of reasoning in replies", "the same", "prices: {m: {output: 10000000, reasoning: 20000000}}"},
	"context_window": {"the most tokens that a prompt and its reply may have", "tokens, from 1", "prices: {m: {context_window: 128000}}"},
}

var ofSpending = map[string]keyDoc{
	"action":        {"what the calls of one action may use; a call for several actions counts for each", "[allowance](#an-allowance)", "spending: {action: {cost: 20000}}"},
	"run":           {"what all calls of a run may use, with those of runs that its tools make", "[allowance](#an-allowance)", "spending: {run: {total_tokens: 100000, cost: 50000}}"},
	"session":       {"what all runs of a session may use", "[allowance](#an-allowance)", "spending: {session: {cost: 1000000}}"},
	"max_next_cost": {"the most that one call may cost; a dearer one is not made", "millionths of a unit of money", "spending: {max_next_cost: 10000}"},
	"max_reply":     {"the most tokens of one reply", "count from 16", "spending: {max_reply: 2000}"},
}

var ofAllowance = map[string]keyDoc{
	"input_tokens":     {"tokens of prompts, cached ones too", "count from 0", "spending: {run: {input_tokens: 80000}}"},
	"output_tokens":    {"tokens of replies, reasoning too", "count from 0", "spending: {run: {output_tokens: 8000}}"},
	"cached_tokens":    {"tokens of prompts that were read from or written to a cache", "count from 0", "spending: {run: {cached_tokens: 50000}}"},
	"reasoning_tokens": {"tokens of reasoning", "count from 0", "spending: {run: {reasoning_tokens: 4000}}"},
	"total_tokens":     {"input and output together", "count from 0", "spending: {action: {total_tokens: 20000}}"},
	"cost":             {"money; every model needs a price", "millionths of a unit of money: `50000` is 0.05", "spending: {session: {cost: 50000}}"},
}

var ofContext = map[string]keyDoc{
	"steps": {"the ways in which a prompt is made shorter, in their order; an empty list leaves it as it is",
		"list of `fold`, `clear`, `summarise`, `window`", "context: {steps: [fold, summarise]}"},
	"from": {"the share of the window from which on a prompt is made shorter", "percentage from 1 to 100", "context: {from: 60}"},
	"to":   {"the share that it then has at most", "percentage from 1 to below `from`", "context: {to: 30}"},
	"keep": {"the newest turns, which stay as they are", "count from 1", "context: {keep: 8}"},
}

var ofLayer = map[string]keyDoc{
	"max_attempts":     {"the most attempts of an action, with the first", "count from 1, `unlimited`", "max_attempts: 4"},
	"backoff":          {"the wait before each retry", "see [backoff](#backoff)", "backoff: {kind: constant, delay: 2s}"},
	"retryable_errors": {"the classes that are retried; they replace those below", "list of at most 1000 classes", "retryable_errors: [tool_validation, truncated]"},
	"emit_feedback":    {"the model is told what was wrong", "`true`, `false`", "emit_feedback: false"},
	"bases":            {"the delay or base of the backoff, for single classes", "class: duration", "bases: {rate_limit: 5s}"},
	"retry_after":      {"a server's wait is the least wait, or the exact one", "`floor`, `first`", "retry_after: first"},
	"retry_after_jitter": {"the largest part of a server's wait that jitter adds to it", "fraction from 0 to 1",
		"retry_after_jitter: 0.1"},
	"max_retry_after":     {"the longest wait that a server may ask for; a longer one ends the action", "duration, `unlimited`", "max_retry_after: 1m"},
	"max_total_delay":     {"the longest sum of the waits of an action", "duration, `unlimited`", "max_total_delay: 10m"},
	"model_timeout":       {"the time of one model call, or one try of `Do`", "duration above 0, `unlimited`", "model_timeout: 60s"},
	"tool_timeout":        {"the time of one run of a tool", "duration above 0, `unlimited`", "tool_timeout: 5m"},
	"first_token_timeout": {"the time until the first piece of a reply", "duration above 0, `unlimited`", "first_token_timeout: 20s"},
	"idle_timeout":        {"the time between two pieces of a reply", "duration above 0, `unlimited`", "idle_timeout: 5s"},
	"no_progress":         {"this many equal failures in a row end the action", "count from 1, `off`", "no_progress: 2"},
	"progress":            {"what follows if valid calls are repeated and their results stay the same", "see [progress](#progress)", "progress: {nudge: 3, stop: 8}"},
	"identity":            {"the arguments by which calls of a tool count as the same for `progress`; none means all", "list of at most 1000 names", "identity: [query, page]"},
	"polling":             {"calls of the tool poll, this often: they never count as repeated, and one that comes early waits", "duration; 0s for no polling", "polling: 30s"},
	"max_successes":       {"the most successful calls of the tool in a run", "count from 1, `unlimited`", "max_successes: 1"},
	"max_session_successes": {"the most successful calls of the tool in a session, counted while it is bounded", "count from 1, `unlimited`",
		"max_session_successes: 3"},
	"equal_calls":      {"what a call means that equals one of the run with a result", "`run`, `recorded`, `refuse`", "equal_calls: refuse"},
	"equal_in_reply":   {"the same for two calls of one reply", "`declared`, `run`, `recorded`, `refuse`", "equal_in_reply: run"},
	"approval":         {"which calls of the tool wait until a person approves them", "a rule (`declared`, `never`, `always`, `undeclared`, `first`), or see [approval](#approval)", "approval: always"},
	"opt_out":          {"no retry at all, whatever else is set", "`true`, `false`", "opt_out: true"},
	"classify_words":   {"the words of an error decide where its type says nothing", "`true`, `false`", "classify_words: true"},
	"text_repairs":     {"what becomes of JSON in text that needed a repair", "`accept`, `note`, `refuse`", "text_repairs: refuse"},
	"native_repairs":   {"the same for arguments of native calls", "`accept`, `note`, `refuse`", "native_repairs: note"},
	"forms_off":        {"forms of calls, and repairs, that are not read", "list of [forms](#forms)", "forms_off: [python_call]"},
	"on_reducer_error": {"a reducer that refuses ends its action, or the run", "`end_action`, `stop`", "on_reducer_error: stop"},
	"attempts":         {"settings of the model for each attempt; the last is for all later ones", "list of at most 100 [settings](#settings-of-an-attempt)", "attempts: [{}, {temperature: 0}]"},
}

var ofProgress = map[string]keyDoc{
	"nudge":   {"the round at which the model is told, and again after as many", "count from 1, `unlimited`", "progress: {nudge: 3}"},
	"planner": {"the round at which the planner is asked", "count from 1, `unlimited`", "progress: {planner: 5}"},
	"stop":    {"the round at which the run ends", "count from 1, `unlimited`", "progress: {stop: unlimited}"},
	"window":  {"how many of the last calls are searched for earlier rounds of an interrupted cycle", "count from 1 to 1000", "progress: {window: 64}"},
}

var ofApproval = map[string]keyDoc{
	"when": {"the calls: those that the tool itself wants approved; none; all; those of tools that are neither read-only nor idempotent; those of a tool of which no call was approved in the session yet; those with a value above a bound",
		"`declared`, `never`, `always`, `undeclared`, `first`, `above`", "approval: {when: undeclared}"},
	"argument":  {"the argument whose value counts for `above`", "name of a member, or a JSON Pointer", "approval: {when: above, argument: /amount/value, above: 100}"},
	"above":     {"the largest value that needs no approval", "number from 0, with at most nine decimals", "approval: {when: above, argument: amount, above: 99.5}"},
	"timeout":   {"how long a question stays open; never longer than its run may take", "duration above 0, `unlimited`", "approval: {when: always, timeout: 24h}"},
	"default":   {"what holds if nobody answers in time", "`refuse`, `approve`", "approval: {when: first, timeout: 1h, default: approve}"},
	"in_doubt":  {"a call whose effect is unknown: the model is told, or a person is asked what has happened", "`tell`, `ask`", "approval: {in_doubt: ask}"},
	"exhausted": {"the attempts are used up, and no planner says otherwise: the run ends, or a person is asked what is to follow", "`end`, `ask`", "approval: {exhausted: ask, timeout: 24h}"},
}

var ofSettings = map[string]keyDoc{
	"temperature": {"the model's temperature", "number from 0 to 2", "attempts: [{temperature: 0.2}]"},
	"model":       {"a name in `loop.WithModels`", "text of at most 200 bytes", "attempts: [{}, {model: big}]"},
}

var ofBackoff = map[string]keyDoc{
	"kind":   {"how the wait grows", "`constant`, `linear`, `exponential`, `list`", "backoff: {kind: constant, delay: 1s}"},
	"delay":  {"every wait of a constant backoff", "duration", "backoff: {kind: constant, delay: 500ms}"},
	"base":   {"the first wait of a linear or exponential one", "duration; above 0 if exponential", "backoff: {kind: linear, base: 1s, step: 2s}"},
	"step":   {"what a linear one adds each time", "duration", "backoff: {kind: linear, base: 0s, step: 1s}"},
	"factor": {"what an exponential one multiplies by each time", "number from 1 to 1000000", "backoff: {kind: exponential, base: 1s, factor: 1.5}"},
	"delays": {"the waits of a list; the last one repeats", "list of 1 to 1000 durations", "backoff: {kind: list, delays: [2s, 8s, 16s]}"},
	"cap":    {"the longest wait", "duration above 0", "backoff: {kind: exponential, base: 1s, factor: 2, cap: 30s}"},
	"jitter": {"how waits are spread", "`none`, or see [jitter](#jitter)", "backoff: {kind: constant, delay: 5s, jitter: none}"},
}

var ofJitter = map[string]keyDoc{
	"kind": {"`proportional`: ± a fraction; `full`: from 0 to the wait; `equal`: from half of it to all of it",
		"`proportional`, `full`, `equal`, `none`", "backoff: {kind: constant, delay: 5s, jitter: {kind: full}}"},
	"fraction": {"of proportional jitter", "number above 0, at most 1",
		"backoff: {kind: constant, delay: 5s, jitter: {kind: proportional, fraction: 0.2}}"},
	"after_cap": {"the cap comes first, so that a wait may exceed it", "`true`, `false`; with a cap and proportional jitter",
		"backoff: {kind: constant, delay: 5s, cap: 5s, jitter: {kind: proportional, fraction: 0.2, after_cap: true}}"},
}

// The page of keys has each row of each table. With -args -rewrite it is written anew.
func TestThePageOfKeysHasEveryKey(t *testing.T) {
	page, err := os.ReadFile("../../docs/policy-keys.md")
	require.NoError(t, err)
	want := keysPage(t)
	if flag.Lookup("rewrite").Value.String() == "true" {
		require.NoError(t, os.WriteFile("../../docs/policy-keys.md", []byte(want), 0o644))
		return
	}
	got := strings.Split(string(page), "\n")
	for n, line := range strings.Split(want, "\n") {
		require.Less(t, n, len(got), "the page ends too early: go test ./policy/file -args -rewrite")
		require.Equal(t, line, got[n], "line %d; to write the page anew: go test ./policy/file -args -rewrite", n+1)
	}
	assert.Len(t, page, len(want))
}

// Each example of the page can be pasted: it is a whole file. No cell is empty.
func TestTheExamplesOfThePageAreWholeFiles(t *testing.T) {
	page, err := os.ReadFile("../../docs/policy-keys.md")
	require.NoError(t, err)
	rows := regexp.MustCompile("(?m)^\\| `.* \\| `(.+)` \\|$").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(rows), 100)
	for _, row := range rows {
		_, err := file.Read("policy.yaml", []byte(row[1]))
		assert.NoError(t, err, row[1])
		assert.NotContains(t, row[0], "|  |")
	}
}

func keysPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`# Policy keys

<!-- Written by TestThePageOfKeysHasEveryKey from the tags of the fields of packages policy and backoff. -->

Every key of a policy file, YAML or JSON. What the keys do together is in [Policies](policies.md). A test reads each example.

Durations are Go durations with a unit: ` + "`500ms`, `2s`, `1m30s`, `2h`; `0s` is none. A number without a unit is refused, but for 0." + `
Counts are whole numbers. An unknown key is an error that names the nearest one. ` + "`retake check -policy FILE`" + ` prints what a file comes to.

A file has either the keys of a set, or the keys of one layer alone, which is then the layer ` + "`global`" + `. [Fleet](#fleet) may stand beside either.

`)
	set := policy.DefaultSet()
	writeKeys(t, &b, "A set", fields.Of[policy.Set](), ofSet, "", func(n int, name string) []string {
		switch {
		case name == "budgets" || name == "spending" || name == "context":
			return []string{"below"}
		case name == "prices":
			return []string{"none"}
		case n <= 6: // layers
			return []string{"empty"}
		}
		return []string{fields.Show(&set, n)}
	})
	writeKeys(t, &b, "Budgets", fields.Of[policy.Budgets](), ofBudgets, "", func(n int, _ string) []string {
		return []string{fields.Show(&set.Budgets, n)}
	})
	b.WriteString("A budget of N allows N failed attempts; the next one is not retried. Only a planner or a person begins the counts anew during a run.\n\n")
	writeKeys(t, &b, "Prices", fields.Of[policy.Price](), ofPrice, "", func(_ int, name string) []string {
		return []string{map[string]string{"input": "0", "output": "0", "reasoning": "that of `output`", "context_window": "unknown"}[name] + map[bool]string{
			true: "that of `input`"}[strings.HasPrefix(name, "cache")]}
	})
	b.WriteString("Prices are whole numbers: 3 dollars for a million tokens are `3000000`. Each token has one price, and each call is rounded up once.\n\n")
	none := func(int, string) []string { return []string{"no limit"} }
	writeKeys(t, &b, "Spending", fields.Of[policy.Spending](), ofSpending, "", none)
	writeKeys(t, &b, "An allowance", fields.Of[policy.Allowance](), ofAllowance, "", none)
	b.WriteString("The cost of a call is projected before it is made: see [Spending](guides/spending.md).\n\n")
	writeKeys(t, &b, "Context", fields.Of[policy.Context](), ofContext, "", func(_ int, name string) []string {
		var c policy.Context
		from, to := c.Shares()
		return []string{map[string]string{"steps": "`[" + join(c.Order(), ", ") + "]`", "from": strconv.Itoa(from),
			"to": strconv.Itoa(to), "keep": strconv.Itoa(c.Newest())}[name]}
	})
	b.WriteString("`fold` leaves out replies of which nothing passed, once their actions have passed; `clear` replaces old results by a note; " +
		"`summarise` asks the function of `loop.WithSummary`; `window` leaves out the oldest turns. See [Context](guides/context.md).\n\n")
	writeLayer(t, &b)
	writeKeys(t, &b, "Backoff", fields.Of[backoff.BackoffStrategy](), ofBackoff, "global", func(_ int, name string) []string {
		switch name {
		case "kind":
			return []string{"required"}
		case "delay", "factor", "delays":
			return []string{"required by its kind"}
		case "base":
			return []string{"0s if linear; required if exponential"}
		case "step":
			return []string{"0s"}
		case "cap":
			return []string{"no cap"}
		}
		return []string{"that of the layer below"}
	})
	b.WriteString("A key of another kind is refused. Waits grow from the first retry: after attempt 1 a linear or exponential backoff waits its base.\n\n")
	writeKeys(t, &b, "Jitter", fields.Of[backoff.Jitter](), ofJitter, "global", func(_ int, name string) []string {
		return []string{map[string]string{"kind": "required", "fraction": "required if proportional", "after_cap": "false"}[name]}
	})
	writeKeys(t, &b, "Progress", fields.Of[policy.Progress](), ofProgress, "global", func(n int, _ string) []string {
		declared, reads := policy.Progress{}.For(false), policy.Progress{}.For(true)
		if all, ro := fields.Show(&declared, n), fields.Show(&reads, n); all != ro {
			return []string{all + "; " + ro + " for read-only tools"}
		}
		return []string{fields.Show(&declared, n)}
	})
	b.WriteString("Each key is merged over the layer below. A cycle of several tools goes by the smallest of their counts. " +
		"[Runs that get somewhere](guides/progress.md) says more.\n\n")
	writeKeys(t, &b, "Approval", fields.Of[policy.Approval](), ofApproval, "global", func(n int, name string) []string {
		whole := policy.Approval{}.Whole()
		if name == "argument" || name == "above" {
			return []string{"required by `above`"}
		}
		return []string{fields.Show(&whole, n)}
	})
	b.WriteString("Each key is merged over the layer below. A rule alone stands for `when`: `approval: always`. " +
		"[A person in the loop](guides/approval.md) says more.\n\n")
	writeKeys(t, &b, "Settings of an attempt", fields.Of[policy.Settings](), ofSettings, "global", func(int, string) []string {
		return []string{"the model's own"}
	})
	writeFleet(t, &b)
	b.WriteString("## Forms\n\n`forms_off` takes these words: `" + join(extract.Forms(), "`, `") + "`.\n\n")
	b.WriteString("## Classes\n\n`retryable_errors` and `bases` take the classes of [Contracts](contracts.md#codes) and your own.\n")
	return b.String()
}

// writeFleet writes the keys of what all runs keep to together.
func writeFleet(t *testing.T, b *strings.Builder) {
	none := func(int, string) []string { return []string{"no limit"} }
	state, err := limit.New(limit.Config{})
	require.NoError(t, err)
	b.WriteString("## Fleet\n\nThe key `fleet` may stand beside the keys of a set or of a single layer. It is no part of a set: " +
		"`file.ReadFleet` returns it,\nand `limiter.New(limiter.FromFleet(fleet))` makes a limiter of it. " +
		"No key is required. [Running a fleet](guides/fleet.md) says more.\n\n")
	writeKeys(t, b, "Keys of a fleet", fields.Of[limit.Fleet](), ofFleet, "", func(_ int, name string) []string {
		return []string{map[string]string{"limit": "all is learned", "scopes": "none", "max_wait": "as its deadline allows", "processes": "as seen"}[name]}
	})
	writeKeys(t, b, "Limits of a scope", fields.Of[limit.Config](), ofLimit, "", func(n int, name string) []string {
		if name == "windows" || name == "concurrency" {
			return none(n, name)
		}
		return []string{fields.Show(&state.Config, n)}
	})
	writeKeys(t, b, "Windows", fields.Of[limit.Window](), ofWindow, "", func(int, string) []string { return []string{"required"} })
}

// writeLayer writes the keys of a layer, with the defaults of both planes.
func writeLayer(t *testing.T, b *strings.Builder) {
	correction, transport := policy.Correction(), policy.Transport()
	shown := func(p policy.RetryPolicy, n int) string {
		l := p.Layer()
		return fields.Show(&l, n)
	}
	allowed := func(layer, example string) bool {
		_, err := file.Read("policy.yaml", []byte(layer+": {"+example+"}"))
		return err == nil
	}
	shownIn := maps.Clone(ofLayer)
	for name, d := range ofLayer {
		if !allowed("global", d.example) {
			d.example = "transport: {" + d.example + "}"
			shownIn[name] = d
		}
	}
	heading := []string{"default of corrections", "default of transport"}
	writeTable(b, "A layer", heading, fields.Of[policy.Layer](), shownIn, func(n int, name string) []string {
		example := ofLayer[name].example
		cells := []string{"–", "–"}
		if allowed("global", example) {
			cells[0] = shown(correction, n)
		}
		switch {
		case name == "emit_feedback":
			cells[1] = "false; nothing else is allowed"
		case allowed("transport", example):
			cells[1] = shown(transport, n)
		}
		require.NotEqual(t, []string{"–", "–"}, cells, "the example of %s: %s", name, example)
		return cells
	})
	b.WriteString("\"–\" means that layers of that plane refuse the key. Layers of corrections are `global`, `tools`, " +
		"`answer`, `call` and `adjusted`;\nlayers of transport are `transport` and `tool_transport`. Of the limits of time " +
		"`tool_transport` takes only `tool_timeout`, and no `classify_words`.\n\n")
	presets := policy.Presets()
	for _, name := range presets {
		require.True(t, allowed("transport", "preset: "+name), name)
	}
	fmt.Fprintf(b, "A layer may also have `preset`, one of `%s`. It sets when to try again; the other keys of the layer go before it: "+
		"`transport: {preset: %s, max_attempts: 6}`.\n\n", strings.Join(presets, "`, `"), presets[len(presets)-1])
}

// writeKeys writes a table whose examples belong in the given layer, and checks them.
func writeKeys(t *testing.T, b *strings.Builder, title string, rows []fields.Field, docs map[string]keyDoc, in string, defaults func(int, string) []string) {
	for _, row := range rows {
		example := docs[row.Name].example
		require.NotEmpty(t, example, "%s: the key %s is not described", title, row.Name)
		assert.Contains(t, example, row.Name)
		if in != "" {
			example = in + ": {" + example + "}"
		}
		_, err := file.Read("policy.yaml", []byte(example))
		require.NoError(t, err, "%s: %s", title, example)
	}
	writeTable(b, title, []string{"default"}, rows, docs, defaults)
}

func writeTable(b *strings.Builder, title string, heading []string, rows []fields.Field, docs map[string]keyDoc, defaults func(int, string) []string) {
	fmt.Fprintf(b, "## %s\n\n| key | what it is | value | %s | example |\n|---|---|---|%s---|\n", title,
		strings.Join(heading, " | "), strings.Repeat("---|", len(heading)))
	for n, row := range rows {
		d := docs[row.Name]
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | `%s` |\n", row.Name, d.is, d.unit, strings.Join(defaults(n, row.Name), " | "), d.example)
	}
	b.WriteString("\n")
}

func join[S ~string](words []S, by string) string {
	all := make([]string, len(words))
	for n, w := range words {
		all[n] = string(w)
	}
	return strings.Join(all, by)
}
