package several

import "strconv"

// Of returns n with the noun one or many. It is safe for concurrent use.
func Of[N ~int | ~int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(int64(n), 10) + " " + many
}
