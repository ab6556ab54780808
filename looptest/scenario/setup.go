package scenario

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// setup is the part of a story before its first start.
type setup struct {
	// own has the program's own tools, policy and session.
	own           With
	policy        policy.Set
	tools         []*tool.Tool
	output        *schema.Schema
	system, words string
	declared      []session.Slice[json.RawMessage]
	reducers      []session.Reducer
	ladder        *planner.Ladder
}

// setPolicy reads a policy file. Its faults are part of the story.
func (sc *story) setPolicy(l *line) error {
	set, err := file.Read("policy", []byte(l.body))
	if err != nil {
		sc.say(err.Error())
		return nil
	}
	sc.policy = set
	return nil
}

func (sc *story) addTool(l *line) error {
	parameters, err := schemaOf(l.body)
	if err != nil {
		return err
	}
	var declared []tool.Option
	if l.has("read-only") {
		declared = append(declared, tool.ReadOnly())
	}
	if l.has("idempotent") {
		declared = append(declared, tool.Idempotent())
	}
	if l.has("identity") {
		declared = append(declared, tool.Identity(split(l.args["identity"], ", ")...))
	}
	if every, err := l.duration("polling"); err != nil {
		return err
	} else if every > 0 {
		declared = append(declared, tool.Polling(every))
	}
	t, err := tool.Raw(l.name, "A tool of this story.", parameters, sc.toolFunc(l.name), declared...)
	if err != nil {
		return err
	}
	sc.tools = append(sc.tools, t)
	if l.has("keys") {
		sc.keyed = append(sc.keyed, l.name)
	}
	return nil
}

func (sc *story) setOutput(l *line) error {
	text, err := schemaOf(l.body)
	if err != nil {
		return err
	}
	sc.output, err = schema.Compile(text)
	return err
}

func (sc *story) setSystem(l *line) error {
	sc.system = l.body
	return nil
}

func (sc *story) setWords(l *line) error {
	sc.words = l.body
	return nil
}

func (sc *story) addSlice(l *line) error {
	switch {
	case l.has("state") == l.has("log"):
		return errors.New("say state or log")
	case l.has("state"):
		sc.declared = append(sc.declared, session.StateSlice[json.RawMessage](l.name))
	default:
		sc.declared = append(sc.declared, session.LogSlice[json.RawMessage](l.name))
	}
	return nil
}

// does are the things that a reducer of a story can do with a payload.
var does = []string{"append", "replace", "clear", "refuse", "panic"}

func (sc *story) addReducer(l *line) error {
	do := l.args["do"]
	if !slices.Contains(does, do) {
		return fmt.Errorf("do: %q is none of %s", do, strings.Join(does, ", "))
	}
	text := cmp.Or(l.args["text"], "refused")
	fn := func(
		_ reducer.View[json.RawMessage], payload json.RawMessage,
	) (reducer.Change[json.RawMessage], error) {
		unchanged := reducer.None[json.RawMessage]()
		if !strings.Contains(string(payload), l.args["when"]) {
			return unchanged, nil
		}
		switch taken := member(payload, l.args["take"]); do {
		case "append":
			return reducer.Append(taken), nil
		case "replace":
			return reducer.Replace(taken), nil
		case "clear":
			return reducer.Clear[json.RawMessage](), nil
		case "refuse":
			return unchanged, errors.New(text)
		}
		panic(text)
	}
	for _, s := range sc.declared {
		if s.Name() == l.args["slice"] {
			sc.reducers = append(sc.reducers, session.On(s, l.args["on"], l.name, fn))
			return nil
		}
	}
	return fmt.Errorf("slice: there is no slice %q: declare it first", l.args["slice"])
}

// member returns a member of an object, or null if there is none. Without a name it returns the whole
// payload.
func member(payload json.RawMessage, name string) json.RawMessage {
	if name == "" {
		return payload
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(payload, &members) != nil || members[name] == nil {
		return json.RawMessage("null")
	}
	return members[name]
}

// sessionConfig is the session that the story set up. That of an agent has no slices and reducers.
func (sc *story) sessionConfig(id string) session.Config {
	if len(sc.around) > 0 {
		return session.Config{ID: id}
	}
	cfg := sc.own.Session
	cfg.ID, cfg.OnReducerError = id, sc.reducerFailed
	cfg.Reducers = append(slices.Clip(cfg.Reducers), sc.reducers...)
	cfg.Slices = slices.Clip(cfg.Slices)
	for _, s := range sc.declared {
		cfg.Slices = append(cfg.Slices, s)
	}
	return cfg
}
