package anthropic

// maxName bounds names of tools and ids of calls, in characters.
const maxName = 128

// isID reports whether the API accepts the id of a call.
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
