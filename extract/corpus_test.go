package extract_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/extract"
)

// devReplies is the number of text replies in the part of the corpus whose figures the test checks.
const devReplies = 3369

type question struct {
	ID    string `json:"id"`
	Tools []struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"tools"`
	Accepted map[string]map[string][]json.RawMessage `json:"accepted"`
	Replies  []struct {
		Model     string `json:"model"`
		Verdict   string `json:"verdict"`
		Text      string `json:"text"`
		ToolCalls []struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"tool_calls"`
	} `json:"replies"`
}

type tally struct{ replies, yielded, valid, accepted int }

// TestCorpus measures the package on real replies. It is skipped unless RETAKE_CORPUS names their file.
func TestCorpus(t *testing.T) {
	path := os.Getenv("RETAKE_CORPUS")
	if path == "" {
		t.Skip("RETAKE_CORPUS is not set: no corpus of real replies to measure")
	}
	m := measure{t: t, forms: map[extract.Form]*tally{}, dump: os.Getenv("RETAKE_CORPUS_DUMP")}
	for _, q := range readCorpus(t, path) {
		m.question(q)
	}
	m.print()
	require.Zero(t, m.inventions, "calls made out of texts that were cut off")
	require.Zero(t, m.altered, "calls with values that do not stand in the text")
	if m.total.replies == devReplies {
		require.GreaterOrEqual(t, m.total.valid, 3299, "replies with schema-valid calls")
		require.GreaterOrEqual(t, m.total.accepted, 3070, "accepted replies")
	}
}

func readCorpus(t *testing.T, path string) []question {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	var questions []question
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var q question
		require.NoError(t, json.Unmarshal(lines.Bytes(), &q))
		questions = append(questions, q)
	}
	require.NoError(t, lines.Err())
	return questions
}

type measure struct {
	t                              *testing.T
	forms                          map[extract.Form]*tally
	total                          tally
	inventions, altered            int
	nativeAgree, nativeOther       int
	textAgree, stricter, moreClear int
	dump                           string
}

func (m *measure) question(q question) {
	schemas, names := map[string]*jsonschema.Schema{}, []string{}
	for _, tool := range q.Tools {
		schemas[tool.Name] = compile(m.t, tool.Parameters)
		names = append(names, tool.Name)
	}
	known := extract.NewNames(names)
	for _, r := range q.Replies {
		if r.Text == "" {
			m.native(q, known, r.Verdict, r.ToolCalls)
			continue
		}
		calls := whole(readCalls(r.Text, known, options))
		form := extract.Form("(none)")
		if len(calls) > 0 {
			form = calls[0].Form
		}
		row := m.forms[form]
		if row == nil {
			row = &tally{}
			m.forms[form] = row
		}
		valid := usable(calls) && schemaValid(schemas, calls)
		accepted := valid && isAccepted(q, calls)
		for _, to := range []*tally{row, &m.total} {
			to.add(usable(calls), valid, accepted)
		}
		m.verdict(accepted, r.Verdict)
		for _, c := range calls {
			if !stands(r.Text, c) {
				m.altered++
				m.t.Logf("altered: %s %s: %s", q.ID, r.Model, c.Arguments)
			}
		}
		m.cut(q, known, r.Model, r.Text, calls)
		m.write(q, r.Model, r.Verdict, r.Text, form, valid, accepted, calls)
	}
}

func (r *tally) add(yielded, valid, accepted bool) {
	r.replies++
	for _, count := range []struct {
		to *int
		is bool
	}{{&r.yielded, yielded}, {&r.valid, valid}, {&r.accepted, accepted}} {
		if count.is {
			*count.to++
		}
	}
}

// native compares the scorer with the benchmark's own verdict on native calls.
func (m *measure) native(q question, known extract.Names, verdict string, native []struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}) {
	var calls []extract.Call
	for _, c := range native {
		if !json.Valid([]byte(c.Arguments)) {
			return
		}
		calls = append(calls, extract.Call{Name: c.Name, Known: true, Arguments: []byte(c.Arguments)})
	}
	if isAccepted(q, calls) == (verdict == "valid") {
		m.nativeAgree++
		return
	}
	m.nativeOther++
	if m.dump != "" {
		m.t.Logf("native: %s %s %v", q.ID, verdict, native)
	}
}

// verdict compares our verdict on text with the benchmark's, which knows fewer forms.
func (m *measure) verdict(accepted bool, verdict string) {
	switch benchmark := verdict == "valid"; {
	case accepted == benchmark:
		m.textAgree++
	case benchmark:
		m.stricter++
	default:
		m.moreClear++
	}
}

// cut counts calls that are found without the last fifth of the text, and not in the whole text.
func (m *measure) cut(q question, known extract.Names, model, text string, full []extract.Call) {
	runes := []rune(text)
	kept := string(runes[:len(runes)*8/10])
	for i, c := range whole(readCalls(kept, known, options)) {
		if i < len(full) && c.Name == full[i].Name && c.Offset == full[i].Offset && c.End == full[i].End &&
			c.End <= len(kept) && bytes.Equal(c.Arguments, full[i].Arguments) {
			continue
		}
		m.inventions++
		m.t.Logf("invented: %s %s: %s %s", q.ID, model, c.Name, c.Arguments)
	}
}

func (m *measure) write(q question, model, verdict, text string, form extract.Form, valid, accepted bool, calls []extract.Call) {
	if m.dump == "" {
		return
	}
	file, err := os.OpenFile(m.dump, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(m.t, err)
	defer file.Close()
	type line struct {
		ID, Model, Verdict, Text string
		Form                     extract.Form
		Valid, Accepted          bool
		Calls                    []extract.Call
		Args                     []string
	}
	l := line{q.ID, model, verdict, text, form, valid, accepted, calls, nil}
	for _, c := range calls {
		l.Args = append(l.Args, c.Name+" "+string(c.Arguments))
	}
	require.NoError(m.t, json.NewEncoder(file).Encode(l))
}

func (m *measure) print() {
	var b strings.Builder
	b.WriteString("\n| form | replies | yielded | schema-valid | accepted |\n|---|--:|--:|--:|--:|\n")
	forms := make([]extract.Form, 0, len(m.forms))
	for f := range m.forms {
		forms = append(forms, f)
	}
	sort.Slice(forms, func(i, j int) bool {
		a, b := m.forms[forms[i]].replies, m.forms[forms[j]].replies
		return a > b || a == b && forms[i] < forms[j]
	})
	row := func(name string, r tally) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", name, r.replies, r.yielded, r.valid, r.accepted)
	}
	for _, f := range forms {
		row(string(f), *m.forms[f])
	}
	row("all", m.total)
	fmt.Fprintf(&b, "\ncut 0.8: %d inventions; altered: %d\n", m.inventions, m.altered)
	fmt.Fprintf(&b, "scorer against the benchmark on native calls: %d agree, %d differ\n", m.nativeAgree, m.nativeOther)
	fmt.Fprintf(&b, "on texts: %d agree, %d only the benchmark accepts, %d only we\n", m.textAgree, m.stricter, m.moreClear)
	m.t.Log(b.String())
}

func compile(t *testing.T, schema json.RawMessage) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("tool.json", doc))
	s, err := c.Compile("tool.json")
	require.NoError(t, err)
	return s
}

func usable(calls []extract.Call) bool {
	return len(calls) > 0 && !slices.ContainsFunc(calls, func(c extract.Call) bool { return !c.Known })
}

// whole returns the calls that are not broken.
func whole(calls []extract.Call) []extract.Call {
	return slices.DeleteFunc(slices.Clone(calls), func(c extract.Call) bool { return c.Broken != nil })
}

func schemaValid(schemas map[string]*jsonschema.Schema, calls []extract.Call) bool {
	for _, c := range calls {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(c.Arguments))
		if err != nil || schemas[c.Name].Validate(doc) != nil {
			return false
		}
	}
	return true
}

// isAccepted is the benchmark's rule: each expected function is called once, with accepted values.
func isAccepted(q question, calls []extract.Call) bool {
	if len(calls) != len(q.Accepted) {
		return false
	}
	for _, c := range calls {
		want, ok := q.Accepted[c.Name]
		if !ok {
			return false
		}
		var args map[string]any
		if json.Unmarshal(c.Arguments, &args) != nil || !acceptsMembers(want, args) {
			return false
		}
	}
	return true
}

func acceptsMembers(want map[string][]json.RawMessage, args map[string]any) bool {
	for name, value := range args {
		if !slices.ContainsFunc(want[name], func(w json.RawMessage) bool { return accepts(w, value) }) {
			return false
		}
	}
	for name, values := range want {
		if _, given := args[name]; !given && !slices.ContainsFunc(values, isOptional) {
			return false
		}
	}
	return true
}

func isOptional(w json.RawMessage) bool { return string(w) == `""` }

func accepts(want json.RawMessage, got any) bool {
	switch got := got.(type) {
	case map[string]any:
		var members map[string][]json.RawMessage
		return json.Unmarshal(want, &members) == nil && acceptsMembers(members, got)
	case []any:
		var elements []json.RawMessage
		if json.Unmarshal(want, &elements) != nil || len(elements) != len(got) {
			return false
		}
		for i := range got {
			if !accepts(elements[i], got[i]) {
				return false
			}
		}
		return true
	case string:
		var s string
		return json.Unmarshal(want, &s) == nil && plain(s) == plain(got)
	default:
		var v any
		return json.Unmarshal(want, &v) == nil && v == got
	}
}

var ignored = regexp.MustCompile(`[ ,./\-_*^]`)

func plain(s string) string {
	return strings.ReplaceAll(strings.ToLower(ignored.ReplaceAllString(s, "")), "'", `"`)
}
