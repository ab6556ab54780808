package main

var coreRows = []row{
	{
		name: "step", bench: "Step", to: "floor_run", per: "events/op",
		work: "Events through `machine.Step` on one core; the values are per event. The run above has five events, one of them a failure.",
		lines: []line{
			{name: "floor_run", text: "by hand, for this run only: the same messages, texts, records, hashes and keys in slices"},
			{name: "ours_run", text: "retake, `Step`"},
		},
		aims:  []aim{{line: "ours_run", unit: "ns/op", most: 2000}},
		notes: []string{"The code by hand does not check events against the state, has no policy, and changes its only state. `Step` does not change the old state, and returns its decisions and effects."},
	},
	{
		name: "step, failing", bench: "Step", to: "floor_failures", per: "events/op",
		work: "The same for a run with a hundred failures. Almost every event makes feedback.",
		lines: []line{
			{name: "floor_failures", text: "by hand, for this run only"},
			{name: "ours_failures", text: "retake, `Step`"},
		},
		aims: []aim{{line: "ours_failures", unit: "ns/op", most: 4000}},
	},
	{
		name: "wait", bench: "Wait", to: "hand",
		work: "Many sessions wait at the same time. The values are heap and stacks per session.",
		cols: []column{{"B/session", "B"}},
		lines: []line{
			{name: "floor_heap", text: "floor: a heap of deadlines"},
			{name: "floor_afterfunc", text: "`time.AfterFunc` and a state of one number"},
			{name: "hand", text: "a goroutine with a timer"},
			{name: "ours_parked", text: "retake, waiting in a `Pool`: the state as data, no goroutine"},
			{name: "ours_asking", text: "retake, waiting in a `Pool` for a person who approves a call"},
			{name: "ours_await", text: "retake, `Pool.Await`: the same with a goroutine that waits for the end"},
			{name: "ours_do", text: "retake, `Do` without a session"},
			{name: "ours_do_session", text: "retake, `Do` with one"},
			{name: "ours_run", text: "retake, `Run`: session, transcript, an overloaded model"},
			{name: "sethvargo", text: "sethvargo/go-retry"}, {name: "cenkalti", text: "cenkalti/backoff"},
			{name: "avast", text: "avast/retry-go"}, {name: "failsafe", text: "failsafe-go"},
		},
		aims: []aim{
			{line: "ours_parked", unit: "B/session", most: 2048}, {line: "ours_asking", unit: "B/session", most: 2500},
		},
		notes: []string{"Each line is measured in its own process. The peers retry a function. A session of retake also holds its attempts, feedback and messages."},
	},
	{
		name: "journal, append", bench: "JournalAppend", to: "std", per: "records/op", lines: appendLines,
		work:  "A run of a hundred good calls is written to memory as a hash chain of JSON lines. The values are per record.",
		aims:  []aim{{line: "ours", unit: "ns/op", most: 2, of: "std"}},
		notes: []string{"retake makes the records from the steps of the core, folds them, and digests each prompt. The other lines get finished records. The line by hand writes only the members that these runs need and checks nothing."},
	},
	{
		name: "journal, append, failures", bench: "JournalAppendFailures", to: "std", per: "records/op", lines: appendLines,
		work: "The same for a run of a hundred bad calls and a good one. Records with feedback have a kilobyte or more.",
		aims: []aim{{line: "ours", unit: "ns/op", most: 2, of: "std"}},
	},
	{
		name: "journal, read", bench: "JournalRead", to: "jsonv2", per: "records/op",
		work: "The run of good calls is read from memory. The values are per record.",
		lines: []line{
			{name: "floor", text: "by hand: verifies hashes, does not decode"}, {name: "ours_raw", text: "retake, `Reader.Raw`: the same"},
			{name: "jsonv2", text: "by hand, decoded by go-json-experiment"}, {name: "std", text: "by hand, decoded by encoding/json"},
			{name: "ours", text: "retake, `Reader.Next`: verifies and decodes strictly"},
			{name: "ours_replay", text: "retake, `Replay`: makes every decision and prompt again and compares them"},
		},
		aims: []aim{{line: "ours_replay", unit: "ns/op", most: 5000}},
	},
	{
		name: "growth", bench: "Growth", to: "ours_1000",
		work: "One action with so many failed attempts in a session; each feedback is read. The ratio compares with the line above.",
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
		work: "A minimal program (a tool, a model, a run): the size of its stripped binary, the time of its init functions (the lowest of all processes), and the time of the whole process. The ratio compares the binaries.",
		cols: startColumns,
		lines: []line{
			{name: "hand", text: "by hand, with the same packages"}, {name: "ours", text: "retake"},
			{name: "ours_raw", text: "retake, with a JSON Schema for the tool instead of a Go type"},
		},
	},
	{
		name: "start, do", bench: "Start", to: "hand_do", cols: startColumns,
		work: "The smallest program: a function under a policy, without a session, that fails twice. The process waits a few milliseconds between the attempts.",
		lines: []line{
			{name: "hand_do", text: "by hand, a loop with a timer and jitter, standard library only"}, {name: "ours_do", text: "retake, `Do`"},
			{name: "ours_decide", text: "retake, `policy.Decide` in a loop by hand"},
		},
		notes: []string{"`Do` is in package `loop`, so the program also links the packages for runs and tools. Their init functions make the validator's list of file types, the metaschemas of JSON Schema, and tables of languages."},
	},
}

var startColumns = []column{{"bytes", "binary, B"}, {"init-ns", "init, ns"}, {"ns/op", "process, ns"}}

var appendLines = []line{
	{name: "floor", text: "by hand, for these records only"}, {name: "jsonv2", text: "go-json-experiment"},
	{name: "std", text: "encoding/json"}, {name: "ours", text: "retake, `journal.Journal`"},
}
