package main

var coreRows = []row{
	{
		name: "step", bench: "Step", to: "floor_run", per: "events/op",
		work: "Events through the pure core, one core: each event. The run above: five events, one of them a failure.",
		lines: []line{
			{name: "floor_run", text: "by hand, for this run alone: the same messages, texts, records, hashes and keys, in slices"},
			{name: "ours_run", text: "retake, `Step`"},
		},
		aims:  []aim{{line: "ours_run", unit: "ns/op", most: 2000}},
		notes: []string{"By hand no event is held to the state that it comes to, no policy is asked, and there is no state but the last. `Step` leaves the state before as it was, and says what it decided and what is to be done."},
	},
	{
		name: "step, failing", bench: "Step", to: "floor_failures", per: "events/op",
		work: "The same of a run with a hundred failures: almost every event makes feedback.",
		lines: []line{
			{name: "floor_failures", text: "by hand, for this run alone"},
			{name: "ours_failures", text: "retake, `Step`"},
		},
		aims: []aim{{line: "ours_failures", unit: "ns/op", most: 4000}},
	},
	{
		name: "wait", bench: "Wait", to: "hand",
		work: "Sessions that wait at once: heap and stacks of each.",
		cols: []column{{"B/session", "B"}},
		lines: []line{
			{name: "floor_heap", text: "floor: a heap of deadlines"},
			{name: "floor_afterfunc", text: "`time.AfterFunc`, and a state of one number"},
			{name: "hand", text: "a goroutine with a timer"},
			{name: "ours_parked", text: "retake, parked: the state as data, no goroutine"},
			{name: "ours_await", text: "retake, `Pool.Await`: the same, and a goroutine that waits for the end"},
			{name: "ours_do", text: "retake, `Do` without a session"},
			{name: "ours_do_session", text: "retake, `Do` with one"},
			{name: "ours_run", text: "retake, `Run`: session, transcript, an overloaded model"},
			{name: "sethvargo", text: "sethvargo/go-retry"}, {name: "cenkalti", text: "cenkalti/backoff"},
			{name: "avast", text: "avast/retry-go"}, {name: "failsafe", text: "failsafe-go"},
		},
		aims:  []aim{{line: "ours_parked", unit: "B/session", most: 2048}},
		notes: []string{"Each line is measured in a process of its own. The peers retry a function; a session of ours holds its attempts, feedback and messages besides."},
	},
	{
		name: "journal, append", bench: "JournalAppend", to: "std", per: "records/op", lines: appendLines,
		work:  "A run of a hundred good calls as a hashed chain of JSON lines, into memory: each record.",
		aims:  []aim{{line: "ours", unit: "ns/op", most: 2, of: "std"}},
		notes: []string{"Ours makes its records from the steps of the core, folds them, and digests each prompt; the others are given the records. By hand only the members that these runs need are written, without a look at what they hold."},
	},
	{
		name: "journal, append, failures", bench: "JournalAppendFailures", to: "std", per: "records/op", lines: appendLines,
		work: "The same of a run of a hundred bad calls and a good one: a kilobyte and more each where there is feedback.",
		aims: []aim{{line: "ours", unit: "ns/op", most: 2, of: "std"}},
	},
	{
		name: "journal, read", bench: "JournalRead", to: "jsonv2", per: "records/op",
		work: "The run of good calls read back from memory: each record.",
		lines: []line{
			{name: "floor", text: "by hand: hashes verified, not decoded"}, {name: "ours_raw", text: "retake, `Reader.Raw`: the same"},
			{name: "jsonv2", text: "by hand, decoded by go-json-experiment"}, {name: "std", text: "by hand, decoded by encoding/json"},
			{name: "ours", text: "retake, `Reader.Next`: verified and decoded, strictly"},
			{name: "ours_replay", text: "retake, `Replay`: every decision and prompt made again and compared"},
		},
		aims: []aim{{line: "ours_replay", unit: "ns/op", most: 5000}},
	},
	{
		name: "growth", bench: "Growth", to: "ours_1000",
		work: "One action of so many failed attempts in a session, each feedback read. The ratio is to the line before.",
		lines: []line{
			{name: "ours_1000", text: "1,000 attempts"}, {name: "ours_10000", text: "10,000 attempts"},
			{name: "ours_100000", text: "100,000 attempts", to: "ours_10000"},
		},
		aims: []aim{
			{line: "ours_10000", unit: "ns/op", most: 11, of: "ours_1000"}, {line: "ours_100000", unit: "ns/op", most: 11, of: "ours_10000"},
			{line: "ours_10000", unit: "B/op", most: 11, of: "ours_1000"}, {line: "ours_100000", unit: "B/op", most: 11, of: "ours_10000"},
		},
	},
	{
		name: "start", bench: "Start", to: "hand",
		work: "A minimal embed (a tool, a model, a run): its binary, stripped, the sum of its init functions (in the process where that is least), and the whole process. The ratio is of the binary.",
		cols: startColumns,
		lines: []line{
			{name: "hand", text: "by hand, with the same packages"}, {name: "ours", text: "retake"},
			{name: "ours_raw", text: "retake, its tool with a JSON Schema and not with a Go type"},
		},
	},
	{
		name: "start, do", bench: "Start", to: "hand_do", cols: startColumns,
		work: "The smallest embed: a function under a policy, no session, that fails twice. The process waits a few milliseconds between the tries.",
		lines: []line{
			{name: "hand_do", text: "by hand, a loop with a timer and jitter, the standard library alone"}, {name: "ours_do", text: "retake, `Do`"},
			{name: "ours_decide", text: "retake, `policy.Decide` in a loop of one's own"},
		},
		notes: []string{"`Do` is in the package of runs and tools, whose imports a program has too, and what these make at their init: the validator's list of file types, JSON Schema's metaschemas, tables of languages."},
	},
}

var startColumns = []column{{"bytes", "binary, B"}, {"init-ns", "init, ns"}, {"ns/op", "process, ns"}}

var appendLines = []line{
	{name: "floor", text: "by hand, for these records alone"}, {name: "jsonv2", text: "go-json-experiment"},
	{name: "std", text: "encoding/json"}, {name: "ours", text: "retake, `journal.Journal`"},
}
