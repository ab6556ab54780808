package several

import "strconv"

// Of is a number with the name of what it counts: one of them, or many. Safe for concurrent use.
func Of[N ~int | ~int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(int64(n), 10) + " " + many
}
