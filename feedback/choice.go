package feedback

import (
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
)

// fairOrder says in which order issues are told when not all can be: the first of each member of the
// proposal, then the second of each, and so on, so that thirty issues under /items do not hide the one under
// /city. Where all lie in one member, its members take turns. The issues must be sorted.
func fairOrder(issues []fault.Issue) []int {
	if len(issues) == 0 {
		return nil
	}
	depth := commonDepth(issues[0].Pointer, issues[len(issues)-1].Pointer)
	order := make([]int, len(issues))
	turns := make(map[string]int)
	for n, i := range issues {
		member := head(i.Pointer, depth)
		order[n] = turns[member]*len(issues) + n
		turns[member]++
	}
	slices.Sort(order)
	for n := range order {
		order[n] %= len(issues)
	}
	return order
}

// choose returns at most limit of the sorted issues, a fair choice in canonical order.
func choose(issues []fault.Issue, limit int) []fault.Issue {
	if len(issues) <= limit {
		return issues
	}
	order := fairOrder(issues)[:max(limit, 0)]
	slices.Sort(order)
	chosen := make([]fault.Issue, len(order))
	for n, at := range order {
		chosen[n] = issues[at]
	}
	return chosen
}

// commonDepth is one more than the tokens that both pointers begin with: the depth at which members may
// differ. The first and the last of sorted pointers share what all share.
func commonDepth(first, last string) int {
	depth := 1
	for n := 0; n < len(first) && n < len(last) && first[n] == last[n]; n++ {
		if first[n] == '/' && n > 0 {
			depth++
		}
	}
	return depth
}

// head is the pointer's first tokens.
func head(pointer string, tokens int) string {
	end := 0
	for range tokens {
		next := strings.IndexByte(pointer[min(end+1, len(pointer)):], '/')
		if next < 0 {
			return pointer
		}
		end += 1 + next
	}
	return pointer[:end]
}
