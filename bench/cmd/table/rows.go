package main

// row is a section of the table: the lines of one benchmark.
type row struct {
	name, work string
	// bench is the benchmark, whose sub-benchmarks are the lines; to is the line that ratios are to.
	bench, to string
	// per is the unit that counts what a value is of, such as records; among is that number where it is the
	// same for all lines.
	per   string
	among float64
	cols  []column
	lines []line
	aims  []aim
	notes []string
}

// line is one way to do the work: ours begin with "ours". why says what kept it from being measured; to is
// another line for its ratio.
type line struct{ name, text, why, to string }

// column is a unit of the benchmarks, and how the table calls it.
type column struct{ unit, title string }

// aim is the most that a line may measure in a unit: most itself or, with of, most times the line of.
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

// rows are those of the table, in its order.
var rows = append(append(append([]row{}, retryRows...), checkRows...), coreRows...)

const noDelays = "its delays are private"

var retryRows = []row{
	{
		name: "delay", bench: "Delay", to: "floor",
		work: "Ten jittered exponential delays: ×2 from 500 ms, below 30 s.",
		lines: []line{
			{name: "floor", text: "floor: ten keyed hashes (splitmix64), nothing else"},
			{name: "ours_after", text: "retake, `After`, one by one, full jitter"},
			{name: "ours_after_proportional", text: "the same, proportional ±20 % below the cap"},
			{name: "cenkalti", text: "cenkalti/backoff, ±50 %"},
			{name: "avast_full", text: "avast/retry-go, full jitter"},
			{name: "avast", text: "avast/retry-go, back-off and random, combined"},
			{name: "sethvargo", text: "sethvargo/go-retry, full jitter"},
			{name: "failsafe", text: "failsafe-go", why: noDelays},
		},
		aims:  []aim{{line: "ours_after", unit: "ns/op", most: 2, of: "cenkalti"}, {line: "ours_after", unit: "allocs/op"}},
		notes: []string{"Ours are keyed: the same seed, stream and attempt always give the same delay, in integers, on every machine. The peers draw from a global generator. sethvargo's chain has no reset, so that it is built anew for each ten."},
	},
	{
		name: "do", bench: "Do", to: "floor",
		work: "A function under a policy, no session, that succeeds at once.",
		lines: []line{
			{name: "floor", text: "floor: a loop by hand"}, {name: "ours", text: "retake, `Do`"}, {name: "avast", text: "avast/retry-go"},
			{name: "sethvargo", text: "sethvargo/go-retry"}, {name: "cenkalti", text: "cenkalti/backoff"}, {name: "failsafe", text: "failsafe-go"},
		},
		aims:  []aim{{line: "ours", unit: "ns/op", most: 20}, {line: "ours", unit: "allocs/op"}},
		notes: []string{"What can be made once is. sethvargo's policies cannot be used twice, and cenkalti's options are arguments: both are made in each call."},
	},
	{
		name: "do, failing", bench: "DoFailing", to: "floor",
		work: "The same after two failures, with no delay.",
		lines: []line{
			{name: "floor", text: "floor: a loop by hand, without timers"}, {name: "ours", text: "retake, `Do`: the error is classified, and feedback is there to be read"}, {name: "avast", text: "avast/retry-go"},
			{name: "sethvargo", text: "sethvargo/go-retry"}, {name: "cenkalti", text: "cenkalti/backoff"}, {name: "failsafe", text: "failsafe-go"},
		},
		aims: []aim{{line: "ours", unit: "ns/op", most: 1, of: "avast"}},
	},
	{
		name: "do, recorded", bench: "DoRecorded", to: "floor",
		work:  "Actions of three attempts in a session, two of them failures with feedback: each attempt.",
		among: 300,
		lines: []line{
			{name: "floor", text: "floor: attempts and issues kept in a slice, a line of text"},
			{name: "ours_long", text: "retake, a hundred actions in a session"},
			{name: "ours_reducer", text: "the same, and a reducer that is told of each outcome"},
		},
	},
	{
		name: "do, recorded once", bench: "DoRecorded", to: "ours_short",
		work:  "A new session with one such action: all of it.",
		lines: []line{{name: "ours_short", text: "retake"}},
	},
}
