package report

// The bounds of what is held in memory, and so of what is shown. The report says what it leaves out.
const (
	// MaxEntries is the most entries that a timeline shows of a run: the first half and the last half.
	MaxEntries = 20_000
	// MaxPageEntries is the most entries that a page shows of all runs together, and MaxPageRuns the most
	// runs: again the first and the last.
	MaxPageEntries = 4_000
	MaxPageRuns    = 200
	// MaxText is the most bytes of one text on a page: 256 KiB.
	MaxText = 256 << 10
	// MaxPage is the most bytes of all texts on a page: 24 MiB, from the first and the last entries.
	MaxPage = 24 << 20
)
