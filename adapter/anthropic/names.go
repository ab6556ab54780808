package anthropic

// maxName is how long a name of a tool may be, and an id of a call, in characters.
const maxName = 128

// isID reports whether the API takes an id for a call.
func isID(id string) bool {
	for n := range len(id) {
		c := id[n]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return id != "" && len(id) <= maxName
}
