package journal

// Chain makes a journal of the bytes of records: for tests that write what no writer would.
func Chain(records ...[]byte) []byte {
	var out []byte
	head := newHash()
	for _, raw := range records {
		h := head.next(raw)
		out = appendLine(out, h, raw)
		if !isNote(raw) {
			head = h
		}
	}
	return out
}
