package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// Secrets are the values that a run has read in places that schemas mark as secret (`retake:"secret"`,
// "x-secret"): of the arguments of calls, and of answers. [Hide] leaves them out of texts. The zero value has
// none. It is safe for concurrent use.
type Secrets struct {
	mu sync.Mutex
	// values are in every form in which texts repeat them, the longest first, and has has each. Of more than
	// mostSecrets nothing is known but that there are some.
	values  []string
	has     map[string]bool
	tooMany bool
	places  map[*schema.Schema][][]string
}

// mostSecrets is the most values, in all their forms, that are looked for in each text.
const mostSecrets = 10_000

// Read adds the secret values of a reply that was read against the tools and the schema of the answer. Each
// of them may be nil.
func (s *Secrets) Read(r *machine.Reply, tools *tool.Set, output *schema.Schema) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range r.Calls {
		if t, ok := tools.Get(c.Tool); ok {
			s.add(t.Schema(), c.Arguments)
			s.add(t.Schema(), []byte(c.Raw))
		}
	}
	if r.Answer != nil && output != nil {
		s.add(output, r.Answer.Value)
		s.add(output, []byte(r.Message.Text))
	}
}

// ReadSaid adds the secret values of the calls in a conversation.
func (s *Secrets) ReadSaid(said []message.Message, tools *tool.Set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range said {
		for _, c := range m.Calls {
			if t, ok := tools.Get(c.Name); ok {
				s.add(t.Schema(), []byte(c.Arguments))
			}
		}
	}
}

// ReadResponse adds the secret values of arguments that a person changed. st is the state after the answer.
func (s *Secrets) ReadResponse(r *machine.Response, st *machine.State, tools *tool.Set) {
	for _, g := range st.Given() {
		if g.Question == r.Question && len(r.Arguments) > 0 {
			s.Read(&machine.Reply{Calls: []machine.Call{{Tool: g.Tool, Arguments: r.Arguments}}}, tools, nil)
		}
	}
}

// add adds the secret values of a document. What is no JSON is ignored: no tool gets it.
func (s *Secrets) add(of *schema.Schema, document []byte) {
	places, known := s.places[of]
	if !known {
		for _, pointer := range of.Secrets() {
			places = append(places, canon.Path(pointer))
		}
		if s.places == nil {
			s.places = map[*schema.Schema][][]string{}
		}
		s.places[of] = places
	}
	if len(places) == 0 || len(document) == 0 || s.tooMany {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber()
	var root any
	if dec.Decode(&root) != nil {
		return
	}
	var found []string
	for _, parts := range places {
		found = valuesAt(found, root, parts)
	}
	s.keep(found)
}

// keep adds values in all their forms.
func (s *Secrets) keep(found []string) {
	had := len(s.values)
	if s.has == nil {
		s.has = map[string]bool{}
	}
	for _, v := range found {
		for _, form := range formsOf(v) {
			if strings.TrimSpace(form) != "" && !s.has[form] {
				s.has[form] = true
				s.values = append(s.values, form)
			}
		}
		if len(s.values) > mostSecrets {
			s.values, s.has, s.tooMany = nil, nil, true
			return
		}
	}
	if len(s.values) > had {
		slices.SortStableFunc(s.values, func(a, b string) int { return len(b) - len(a) })
	}
}

// formsOf returns a value as it is, and as JSON and Go quote it, once and twice.
func formsOf(v string) []string {
	inner := func(quoted string) string { return quoted[1 : len(quoted)-1] }
	asJSON, err := json.Marshal(v) // with < > & as escapes
	if err != nil {
		return []string{v}
	}
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return []string{v}
	}
	forms := []string{v, inner(string(asJSON)), inner(strings.TrimSuffix(plain.String(), "\n")),
		inner(strconv.Quote(v))}
	for _, once := range forms[1:] {
		forms = append(forms, inner(strconv.Quote(once)))
	}
	return forms
}

// valuesAt appends the texts and numbers at a place, and below it. The part "*" is any member or item, and a
// name that of a member in any case. What is true, false or null is no secret.
func valuesAt(to []string, v any, parts []string) []string {
	inner := parts
	if len(parts) > 0 {
		inner = parts[1:]
	}
	here := func(part string) bool { return len(parts) == 0 || parts[0] == "*" || strings.EqualFold(parts[0], part) }
	switch v := v.(type) {
	case map[string]any:
		for _, name := range canon.Keys(v) {
			if here(name) {
				to = valuesAt(to, v[name], inner)
			}
		}
	case []any:
		for n, item := range v {
			if here(strconv.Itoa(n)) {
				to = valuesAt(to, item, inner)
			}
		}
	case string:
		if len(parts) == 0 {
			to = append(to, v)
		}
	case json.Number:
		if len(parts) == 0 {
			to = append(to, v.String())
		}
	}
	return to
}

// inText replaces a secret value.
const inText = "[secret left out]"

// wholeBelow is the length in bytes below which a value is only looked for as a whole word.
const wholeBelow = 4

// hide returns the text without the values.
func (s *Secrets) hide(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tooMany {
		return inText
	}
	for _, v := range s.values {
		if len(v) >= wholeBelow {
			text = strings.ReplaceAll(text, v, inText)
		} else {
			text = replaceWord(text, v)
		}
	}
	return text
}

// replaceWord replaces a value where no letter or digit stands beside it.
func replaceWord(text, v string) string {
	var out strings.Builder
	for from := 0; ; {
		at := strings.Index(text[from:], v)
		if at < 0 {
			return out.String() + text[from:]
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(v):])
		out.WriteString(text[from:at])
		if inWord(before) || inWord(after) {
			out.WriteString(v)
		} else {
			out.WriteString(inText)
		}
		from = at + len(v)
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

type secretsKey struct{}

// heldSecrets are the secrets of a run, and those of the runs in whose tools it is made.
type heldSecrets struct {
	*Secrets
	outer *heldSecrets
}

// WithSecrets returns a context in which [Hide] leaves out what s holds, and what ctx leaves out already. It
// is for engines that tell observers themselves.
func WithSecrets(ctx context.Context, s *Secrets) context.Context {
	outer, _ := ctx.Value(secretsKey{}).(*heldSecrets)
	if outer != nil && outer.Secrets == s {
		return ctx
	}
	return context.WithValue(ctx, secretsKey{}, &heldSecrets{s, outer})
}

// Hide returns a text without the values that schemas mark as secret, as far as the run of the context has
// read them: as they are, and quoted as JSON or by Go. A value of fewer than 4 bytes is only left out where
// it is a whole word; true, false and null never are. Of a run that has read more than some thousand such
// values, no text is told. Observers that log errors call it with the context that
// they get.
func Hide(ctx context.Context, text string) string {
	for held, _ := ctx.Value(secretsKey{}).(*heldSecrets); held != nil && text != ""; held = held.outer {
		text = held.hide(text)
	}
	return text
}
