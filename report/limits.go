package report

// The bounds of what is held of a journal, and so of what is shown. What is left out is said where it would
// stand.
const (
	// MaxEntries is how many entries of a run a timeline shows: the first and the last half of them.
	MaxEntries = 20_000
	// MaxPageEntries is how many entries of all runs together a page shows, MaxPageRuns how many runs: again
	// the first and the last.
	MaxPageEntries = 4_000
	MaxPageRuns    = 200
	// MaxText is how many bytes of each text a page holds: 256 KiB.
	MaxText = 256 << 10
	// MaxPage is how many bytes of texts a page holds: 24 MiB, the first and the last half of them.
	MaxPage = 24 << 20
)
