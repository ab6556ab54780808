package main

// row is a section of the table: the lines of one benchmark.
type row struct {
	name, work string
	// bench is the benchmark; its sub-benchmarks are the lines. to is the line that ratios compare with.
	bench, to string
	// per is the metric that a value is divided by, such as records; among replaces it by a fixed number.
	per   string
	among float64
	cols  []column
	lines []line
	aims  []aim
	notes []string
}

// line is one way to do the work. Names of retake's lines begin with "ours". why is the reason if the line is
// not measured; to is another line for its ratio.
type line struct{ name, text, why, to string }

// column is a unit of the benchmarks and its title in the table.
type column struct{ unit, title string }

// aim bounds a line in a unit: by most, or by most times the line of.
type aim struct {
	line, unit string
	most       float64
	of         string
}

var unitNames = map[string]string{
	"ns/op": "ns", "allocs/op": "allocations", "B/op": "B", "B/session": "B", "bytes": "bytes", "init-ns": "ns of init",
}

var usual = []column{{"ns/op", "ns"}, {"B/op", "B"}, {"allocs/op", "allocs"}}

func (r *row) columns() []column {
	if r.cols != nil {
		return r.cols
	}
	return usual
}

func titles(all []column) []string {
	var names []string
	for _, c := range all {
		names = append(names, c.title)
	}
	return names
}

// rows are the rows of the table, in order.
var rows = append(append(append([]row{}, retryRows...), checkRows...), coreRows...)

const noDelays = "its delays are private"

var retryRows = []row{
	{
		name: "delay", bench: "Delay", to: "floor",
		work: "Ten jittered exponential delays: ×2 from 500 ms, below 30 s.",
		lines: []line{
			{name: "floor", text: "floor: ten keyed hashes (splitmix64) and nothing else"},
			{name: "ours_after", text: "retake, `After`, one by one, full jitter"},
			{name: "ours_after_proportional", text: "the same, proportional ±20 % below the cap"},
			{name: "cenkalti", text: "cenkalti/backoff, ±50 %"},
			{name: "avast_full", text: "avast/retry-go, full jitter"},
			{name: "avast", text: "avast/retry-go, backoff plus random delay"},
			{name: "sethvargo", text: "sethvargo/go-retry, full jitter"},
			{name: "failsafe", text: "failsafe-go", why: noDelays},
		},
		aims:  []aim{{line: "ours_after", unit: "ns/op", most: 2, of: "cenkalti"}, {line: "ours_after", unit: "allocs/op"}},
		notes: []string{"retake's delays are integers that depend on seed, stream and attempt only, so they are the same on every machine. The peers use a global random generator. sethvargo's chain has no reset, so it is built again for every ten delays."},
	},
	{
		name: "do", bench: "Do", to: "floor",
		work: "A function under a policy, without a session, that succeeds at once.",
		lines: []line{
			{name: "floor", text: "floor: a loop by hand"}, {name: "ours", text: "retake, `Do`"}, {name: "avast", text: "avast/retry-go"},
			{name: "sethvargo", text: "sethvargo/go-retry"}, {name: "cenkalti", text: "cenkalti/backoff"}, {name: "failsafe", text: "failsafe-go"},
		},
		aims:  []aim{{line: "ours", unit: "ns/op", most: 20}, {line: "ours", unit: "allocs/op"}},
		notes: []string{"Policies are made once, outside of the measurement. sethvargo's cannot be used twice and cenkalti's are arguments, so these two are made in each call."},
	},
	{
		name: "do, failing", bench: "DoFailing", to: "floor",
		work: "The same function after two failures, without delays.",
		lines: []line{
			{name: "floor", text: "floor: a loop by hand, without timers"}, {name: "ours", text: "retake, `Do`: classifies each error, and keeps the failures for who asks"},
			{name: "ours_read", text: "the same, and each try reads its feedback, for which the attempts are recorded"}, {name: "avast", text: "avast/retry-go"},
			{name: "sethvargo", text: "sethvargo/go-retry"}, {name: "cenkalti", text: "cenkalti/backoff"}, {name: "failsafe", text: "failsafe-go"},
		},
		aims: []aim{{line: "ours", unit: "ns/op", most: 1, of: "avast"}},
	},
	{
		name: "do, recorded", bench: "DoRecorded", to: "floor",
		work:  "Actions of three attempts in a session; two of the attempts fail and get feedback. The values are per attempt.",
		among: 300,
		lines: []line{
			{name: "floor", text: "floor: attempts and issues in a slice, one line of text"},
			{name: "ours_long", text: "retake, a hundred actions in a session"},
			{name: "ours_reducer", text: "the same with a reducer that gets each outcome"},
		},
	},
	{
		name: "do, recorded once", bench: "DoRecorded", to: "ours_short",
		work:  "A new session with one such action. The values are for all of it.",
		lines: []line{{name: "ours_short", text: "retake"}},
	},
}
