package report

import "github.com/retake-go/retake/fault"

// sectionView is one model call or try, and all that followed until the next.
type sectionView struct {
	ID, Word, Title, Tone, Result string
	At, Usage                     string
	Line                          int64
	// System is nil where it is that of the section before; SameSystem says so.
	System     *textView
	SameSystem bool
	// Earlier are the latest of the messages before, Before counts those that are not named.
	Earlier  []messageLink
	Before   int
	Messages []*messageView
	Items    []*itemView
	// Bare is set where the texts were left out.
	Bare bool
}

// messageLink names a message that stands in another section.
type messageLink struct{ ID, Role, Says string }

// messageView is one message of a prompt.
type messageView struct {
	ID, Role, About string
	IsError         bool
	// Echo is the section whose reply this is; empty for what is shown here.
	Echo string
	Text *textView
}

// itemView is one thing that happened in a section.
type itemView struct {
	Word, Tone, At string
	Line           int64
	Title          string
	More           []string
	Texts          []*textView
	Calls          []*callView
	Issues         []issueView
	Fixed          []issueView
	Left           []gauge
	Rows           []policyRow
	PolicyID       string
	Diffs          []diffView
	// Wait is the length of a wait, in thousandths of the longest.
	Wait        int
	Told, Usage string
}

// callView is one proposed call.
type callView struct {
	Tool, ID, Class, Tone string
	Arguments             *textView
	Read                  *textView
	Issues                []issueView
	Repairs               string

	action string
	issues []fault.Issue
}

// diffView compares what was proposed with the attempt before.
type diffView struct {
	Title string
	Lines []diffLine
	// Same is set where nothing has changed, Long where it is too much to compare.
	Same, Long bool
}

// gauge is what is left of a bound.
type gauge struct {
	Name, Left, Of string
	Low            bool
}

// maxEarlier is how many of the messages before are named.
const maxEarlier = 12
