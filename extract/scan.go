package extract

import (
	"regexp"
	"strings"
)

// Calls returns the first run of calls in text, in order. A run is a series of calls with only space, commas,
// semicolons, tags and fences between them. A call that repeats another of the run is left out. A [Broken]
// call ends the run, unless a closing tag shows where the next one may begin. Tags with the answer of a tool
// or with thoughts of the model are skipped, and so is all text before the end of a thought that has no
// beginning. calls is nil if there is no call.
//
// over is the number of calls if there are more than opt.MaxCalls; calls is nil then. Beyond the bound, calls
// that repeat others count too.
//
// names are the known tools. A call of another name is only found in a place for calls: in a tag or object
// for calls, or as an element {"name": …, "arguments": …} of a list.
func Calls(text string, names Names, opt Options) (calls []Call, over int) {
	text = text[:min(len(text), maxText)]
	if !strings.ContainsAny(text, callOpens) {
		return nil, 0
	}
	if opt.isOff(formAlias) {
		names.alias = nil
	}
	s := scanner{text: text, names: names, opt: opt, pos: textStart(text), before: -1, after: -1}
	for s.pos < len(text) && !s.done {
		s.step()
		if s.pos >= len(text) || s.done {
			s.behindThoughts()
		}
	}
	return s.finish()
}

// callOpens are the characters that open a value, a list of arguments, or a tag. Every call has one.
const callOpens = "{[(<"

// scanner goes through a text once.
type scanner struct {
	text  string
	names Names
	opt   Options
	pos   int
	// run are the calls so far. over is their number if there are more than opt.MaxCalls. said are the first
	// of them, up to keyed. end is the end of the latest. before and after are the offsets of the text around
	// the run that was dropped, or -1.
	run           []Call
	over          int
	said          map[said]struct{}
	keyed, end    int
	before, after int
	// tag is the mark around what follows, and fenced the open fence. Their kind is noMark if there is none.
	tag, fenced mark
	// defined are the tools that the fenced code defines itself. assigned is its latest assignment.
	defined  []string
	assigned *assignment
	// inner reads what is written in strings.
	reader, inner reader
	// parse is what was read last. It stays here, so that a text of brackets takes no memory.
	parse parse
	// reread is how many bytes were read for Python calls. Those of mentions are read again.
	reread int
	// vain is the offset before which no tag that is named as its tool has arguments in tags.
	vain int
	// thought is set after the end of a thought. Another end is ignored.
	thought, done bool
}

// step reads what is at pos, by the first of its methods that takes it.
func (s *scanner) step() {
	if !s.glue() && !s.mark() && !s.literal() && !s.token() && !s.label() {
		s.prose(s.pos, s.pos+1)
	}
}

// behindThoughts goes to the end of a thought after the run, if there is one: the run was a part of it.
func (s *scanner) behindThoughts() {
	if len(s.run) == 0 || s.thought {
		return
	}
	if at := unopenedThought(s.text, s.end); at >= 0 {
		s.pos, s.done = at, false
	}
}

// thoughtEnds drops what was found before the first end of a thought: the text began within it.
func (s *scanner) thoughtEnds(m mark) {
	if s.thought {
		return
	}
	first := max(s.before, 0)
	*s = scanner{
		text: s.text, names: s.names, opt: s.opt, reader: s.reader, inner: s.inner,
		pos: m.end, before: first, after: -1, thought: true,
	}
}

// prose skips text that is no call. It ends a run and the tag around.
func (s *scanner) prose(start, end int) {
	s.pos = end
	s.tag = mark{}
	if len(s.run) > 0 {
		s.done = true
		if s.after < 0 {
			s.after = start
		}
	} else if s.before < 0 {
		s.before = start
	}
}

// glue skips what may be between calls. A closing bracket too many does not end the run, but is a repair.
func (s *scanner) glue() bool {
	c := s.text[s.pos]
	stray := len(s.run) > 0 && (c == ')' || c == ']' || c == '}')
	if !isSpace(c) && c != ',' && c != ';' && !stray && !s.behindWord(c) {
		return false
	}
	if stray && s.after < 0 {
		s.after = s.pos
	}
	s.pos++
	return true
}

// behindWord reports whether c is a part of what precedes a call: the colon of call:, the bracket of print(,
// a prompt >>>.
func (s *scanner) behindWord(c byte) bool {
	before := s.text[:s.pos]
	switch c {
	case ':':
		return s.tag.kind == callTag && strings.HasSuffix(before, "call")
	case '(':
		return len(s.run) > 0 && s.fenced.kind != noMark && strings.HasSuffix(before, "print")
	case '>':
		return len(s.run) > 0 && (strings.HasPrefix(s.text[s.pos:], ">>>") || strings.HasSuffix(before, ">"))
	}
	return false
}

func (s *scanner) mark() bool {
	m := markAt(s.text, s.pos)
	if m.kind == noMark {
		return false
	}
	s.pos = m.end
	switch m.kind {
	case fence:
		s.fence(m)
	case asideTag:
		s.prose(m.start, asideEnd(s.text, m))
	case thoughtEnd:
		s.thoughtEnds(m)
	case callEnd:
		s.tag = mark{}
	case otherTag:
		return s.ownTag(m) || s.pos == m.end
	case functionTag:
		s.tag = m
		s.functionTag(m)
	default:
		s.tag = m
	}
	return true
}

func (s *scanner) fence(m mark) {
	s.defined, s.assigned = nil, nil
	switch {
	case s.fenced.kind == noMark:
		s.fenced = m
		s.mention(m)
	case s.fenced.ticks == m.ticks:
		s.fenced = mark{}
		s.pos = m.start + m.ticks // a closing fence has no language
	}
}

// mention skips a value or tag in single backticks that a sentence mentions, to the end of its line at most.
func (s *scanner) mention(m mark) {
	code, _, _ := strings.Cut(s.text[m.end:], "\n")
	code, _, _ = strings.Cut(code, "`")
	isWritten := code != "" && strings.Contains("{[<", code[:1])
	if m.ticks == 1 && isWritten && s.runsOn() && isMention(s.text[:m.start]) {
		s.prose(m.start, m.end+len(code))
	}
}

// read reads a value at the scanner's position.
func (s *scanner) read() (*parse, int) {
	p := s.startAt(s.pos)
	n, _ := p.value(0, 0)
	return p, n
}

// startAt is ready to read at an offset.
func (s *scanner) startAt(pos int) *parse {
	s.reader.start(s.text, pos, len(s.text))
	s.parse = parse{reader: &s.reader, to: s}
	return &s.parse
}

// literal reads a bracketed value as calls.
func (s *scanner) literal() bool {
	if c := s.text[s.pos]; c != '{' && c != '[' {
		return false
	}
	start := s.pos
	p, n := s.read()
	at := setting{form: formCallObject, clear: s.tag.kind == callTag}
	p.element(n, at)
	if p.made == 0 && s.fenced.kind != noMark {
		s.assign(p, n)
	}
	if p.made == 0 && s.tag.kind == callTag && s.text[start] == '{' {
		p.add(p.broken(s.nameless(start, p.pos, p.fault == nil)))
	}
	s.take(p, start)
	return true
}

// toolName is a member with the name of a tool.
var toolName = regexp.MustCompile(`["']name["']\s*:\s*(?:"([^"]*)|'([^']*))`)

// nameless returns a call whose name was not read. If a closing tag bounds it, the name is searched for after
// the place at which reading stopped, so that the feedback is about the right tool. After a complete object
// only the text up to the next object or tag is searched.
func (s *scanner) nameless(start, stop int, whole bool) Call {
	c := Call{Form: formToolTag, Offset: start, End: stop}
	end := len(s.text)
	if !whole {
		end = closing(s.text, stop, s.tag.word)
	} else if i := strings.IndexAny(s.text[stop:], "{<"); i >= 0 && strings.HasPrefix(s.text[stop+i:], "</") {
		end = stop + i
	}
	if end == len(s.text) {
		return c
	}
	if m := toolName.FindStringSubmatch(s.text[stop:end]); m != nil {
		if name, _, known := s.names.lookup(m[1] + m[2]); known {
			c.Name, c.Known = name, true
		}
	}
	return c
}

// take adds the calls that p found at start, and goes to the end of what p read.
func (s *scanner) take(p *parse, start int) {
	p.settle(len(s.text) + 1)
	end := max(p.pos, start+1)
	if p.fault != nil && p.cut {
		end = len(s.text)
	}
	if !p.taken {
		s.prose(start, p.resume(end))
		return
	}
	s.pos = end
	if p.fault != nil { // only a closing tag says where the next call may begin
		if s.pos = len(s.text); s.tag.kind == callTag || s.tag.kind == functionTag {
			s.pos = closing(s.text, end, s.tag.word)
		}
	}
	if s.tag.kind == controlToken {
		s.tag = mark{} // it stands for what follows it only
	}
}

// resume returns where to go on after a literal without calls: usually its end. If a list broke directly
// after one of its strings, it is within that string, because the quotes were those of an outer text:
// ['f(a='b')'].
func (p *parse) resume(end int) int {
	if p.fault == nil || p.cut || p.pos != p.afterString {
		return end
	}
	for n := range p.count {
		if p.kind(n) != list || !p.at(n).open {
			continue
		}
		for m := range p.children(n) {
			if p.kind(m) == str && p.begin(m) == p.lastString {
				return p.lastString + 1
			}
		}
	}
	return end
}
