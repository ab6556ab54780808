package journal

// Chain makes a journal from the bytes of records, also of invalid ones.
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
