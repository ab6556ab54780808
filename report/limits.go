package report

// The bounds of what is held in memory, and so of what is shown. The report says what it leaves out.
const (
	// maxEntries is the most entries that a timeline shows of a run: the first half and the last half.
	maxEntries = 20_000
	// maxPageEntries is the most entries that a page shows of all runs together, and maxPageRuns the most
	// runs: again the first and the last.
	maxPageEntries = 4_000
	maxPageRuns    = 200
	// maxPageText is the most bytes of one text on a page.
	maxPageText = 256 << 10
	// maxPage is the most bytes of all texts on a page, from the first and the last entries.
	maxPage = 24 << 20
)
