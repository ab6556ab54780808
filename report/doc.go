// Package report shows a journal to people: as a timeline for a terminal, as lines of JSON, and as one page
// of HTML.
//
// It shows what was recorded and decides nothing: it applies no policy and checks no decision. It does check
// the hashes. A journal is shown up to the first line that was changed, and the error names that line. The
// report says so if the last line is torn or a run has no end.
//
// Any text in a journal may come from a model or a tool. On a terminal, control and invisible characters are
// replaced. A page names them in place and escapes everything else. It loads nothing, and its content
// security policy allows only its own style sheet and script.
//
// A journal is read once, in order, so it may come from a pipe. Memory is bounded, and what is left out is
// said: a timeline shows 20,000 entries of a run, and a page 4,000 of 200 runs, or 20,000 if it is fetched in
// parts, with texts of at most 256 KiB each and 24 MiB together; of more, the first half and the last half.
// The turns of agents have as much room again.
package report
