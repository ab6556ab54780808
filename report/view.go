package report

import (
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
)

// textView is a text on a page. Same says how much is left out because it was shown before.
type textView struct {
	Label, Same string
	Parts       []segment
}

// leastShared is how many bytes two texts must share before those are left out of the second.
const leastShared = 200

// news returns the lines of a text that differ from the text before, and how many bytes around them are the
// same. If fewer than leastShared are, it returns the whole text and 0.
func news(was, is string) (part string, same int) {
	begin, end := 0, len(is)
	for begin < min(len(was), len(is)) && was[begin] == is[begin] {
		begin++
	}
	if begin == len(was) && begin == len(is) && begin >= leastShared {
		return "", begin
	}
	begin = strings.LastIndexByte(is[:begin], '\n') + 1
	for end > begin && len(was)-(len(is)-end) > begin && is[end-1] == was[len(was)-(len(is)-end)-1] {
		end--
	}
	if line := strings.IndexByte(is[end:], '\n'); line < 0 {
		end = len(is)
	} else {
		end += line
	}
	if same = begin + len(is) - end; same < leastShared {
		return is, 0
	}
	return is[begin:end], same
}

// issueView is an issue on a page. Since says whether it is new.
type issueView struct {
	N                              int
	Place, Says, Rule, Since, Tone string

	id string
}

// issueViews lists issues.
func issueViews(issues []fault.Issue) []issueView {
	var views []issueView
	for n, i := range issues[:min(len(issues), maxMarks)] {
		views = append(views, issueView{
			N: n + 1, Place: i.Place(), Says: strings.TrimPrefix(i.String(), i.Place()+": "),
			Rule: joined(", ", i.Rule, string(i.Source)), id: i.ID(),
		})
	}
	return views
}

// tellSince sets which issues are new, and which were there before.
func tellSince(views []issueView, diff feedback.Diff) {
	is := map[string][2]string{}
	for _, i := range diff.New {
		is[i.ID()] = [2]string{"new", "bad"}
	}
	for _, i := range diff.Persistent {
		is[i.ID()] = [2]string{"still", "warn"}
	}
	for n, v := range views {
		views[n].Since, views[n].Tone = is[v.id][0], is[v.id][1]
	}
}
