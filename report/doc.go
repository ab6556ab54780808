// Package report shows a journal to people: as a timeline for a terminal, as lines of JSON, and as one page
// of HTML.
//
// It shows what was recorded and decides nothing: no policy is applied anew, and no decision is checked.
// Hashes are: a journal is shown as far as its lines are what was written, and the error says which line is
// not. The last line may be torn, and a run may have no end; both are said.
//
// Whatever stands in a journal may come from a model or a tool. A terminal gets no control character of it,
// and no character that cannot be seen; a page names them where they stand, escapes all else, runs no script
// and loads nothing.
//
// A journal is read once, in order, so that it may come from a pipe. What is held of it is bounded: see
// [MaxEntries], [MaxText] and [MaxPage].
package report
