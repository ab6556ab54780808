package scenario

import (
	"fmt"
	"os"
	"slices"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// With brings a program's own tools, reducers, policy and session to its stories, so that a story shows what
// they do. A line of the story overrides it. The zero value brings nothing.
type With struct {
	// Config is the configuration of the runs. Its tools really run, unless the story gives their outcomes,
	// by "outcome" or "rounds". One with outcomes does not run once they are used up: the outcome "itself"
	// lets it run once. All stories share the tools: state should be kept in the session.
	Config loop.Config
	// PolicyFile is the path of a policy file that replaces Config.Policy; empty for none.
	PolicyFile string
	// Session has the slices and reducers of the session. Its ID is the story's.
	Session session.Config
}

// apply implements Option.
func (w With) apply(sc *story) error {
	sc.own = w
	sc.output, sc.system, sc.words = w.Config.Output, w.Config.System, w.Config.Feedback
	if w.Config.Policy != nil {
		sc.policy = *w.Config.Policy
	}
	if w.Config.Tools != nil {
		sc.tools = w.Config.Tools.All()
	}
	if w.PolicyFile == "" {
		return nil
	}
	data, err := os.ReadFile(w.PolicyFile)
	if err == nil {
		sc.policy, err = file.Read(w.PolicyFile, data)
	}
	return err
}

// config returns the configuration of a run, without the arguments of its start.
func (sc *story) config(set *tool.Set, p *policy.Set) loop.Config {
	cfg := sc.own.Config
	cfg.Tools, cfg.Policy, cfg.Output, cfg.System, cfg.Feedback = set, p, sc.output, sc.system, sc.words
	return cfg
}

// invoked is the tool that a run of the story calls: the program's own, unless the story has outcomes for it.
func (sc *story) invoked(name string) (*tool.Tool, error) {
	t, _ := sc.cfg.Tools.Get(name)
	place, scripted := sc.scripted[name]
	if own, _ := sc.own.Config.Tools.Get(name); own != t || !scripted {
		return t, nil
	}
	next := slices.IndexFunc(sc.outcomes, func(o outcome) bool { return o.tool == name })
	switch {
	case next < 0:
		return nil, fmt.Errorf("the outcomes of %s are used up (the last stand at %s), and it does not run by itself: "+
			"give it another, or the outcome %q to let it run once", name, place, itself)
	case sc.outcomes[next].itself:
		sc.next(name)
		return t, nil
	}
	return tool.Raw(name, t.Description(), t.Parameters(), sc.toolFunc(name))
}
