package extract

import (
	"slices"
	"strings"
)

// thoughtTokens are the tokens around a thought, for models that do not use tags.
var thoughtTokens = [...]struct{ open, until string }{
	{"<|START_THINKING|>", "<|END_THINKING|>"},
	{"<|channel|>analysis<|message|>", "<|"},
	{"<|channel>thought", "<channel|>"},
	{"<|think:start|>", "<|think:end|>"},
	{"<|think|>", "<|"},
	{"[THINK]", "[/THINK]"},
}

// thoughtTokenAt reads one of the thoughtTokens.
func thoughtTokenAt(text string, pos int) mark {
	for _, t := range thoughtTokens {
		if strings.HasPrefix(text[pos:], t.open) {
			return mark{kind: asideTag, start: pos, end: pos + len(t.open), until: t.until}
		}
	}
	return mark{}
}

// asideEnd returns the end of what m opens: its closing mark, or else the end of the text.
func asideEnd(text string, m mark) int {
	if m.until == "" {
		return closing(text, m.end, m.word)
	}
	if i := strings.Index(text[m.end:], m.until); i >= 0 {
		return m.end + i
	}
	return len(text)
}

// closing returns the offset of the next closing tag of one of the words, or else the end of the text.
func closing(text string, pos int, words ...string) int {
	for pos < len(text) {
		i := strings.IndexByte(text[pos:], '<')
		if i < 0 {
			break
		}
		pos += i
		if isClosing(text[pos:]) && slices.Contains(words, tagAt(text, pos).word) {
			return pos
		}
		pos++
	}
	return len(text)
}

// unopenedThought returns the offset after pos of a closing tag of a thought without an opening one; -1 if
// there is none. For many models the opening tag is a part of the prompt, so they write only the closing one.
func unopenedThought(text string, pos int) int {
	for ; ; pos++ {
		i := strings.IndexByte(text[pos:], '<')
		if i < 0 {
			return -1
		}
		switch pos += i; tagAt(text, pos).kind {
		case thoughtEnd:
			return pos
		case asideTag:
			return -1
		}
	}
}

// afterThoughts returns the end of the thoughts that a text begins with.
func afterThoughts(text string) int {
	from := textStart(text)
	for {
		start := skipSpace(text, from)
		if start == len(text) {
			return from
		}
		m := markAt(text, start)
		if m.kind != asideTag || m.use == ofResult {
			return from
		}
		end := asideEnd(text, m)
		if end == len(text) {
			return end
		}
		from = max(markAt(text, end).end, end)
	}
}

// OnlyThoughts reports whether a text has thoughts of the model, in tags such as <think>, and nothing else.
// What stands before a </think> without an opening tag is a thought, too.
func OnlyThoughts(text string) bool {
	end := afterThoughts(text)
	if unopened := unopenedThought(text, end); unopened >= 0 {
		end = tagAt(text, unopened).end
	}
	return end > textStart(text) && strings.TrimSpace(text[end:]) == ""
}

// WithoutThoughts returns what a text says after the thoughts of the model that it begins with: between
// <think> and </think> or the tokens of some models, or before a </think> that nothing opened and that stands
// alone on its line, outside of code. The tokens of gpt-oss around an answer are left out, too. It returns
// any other text as it is: one that has nothing else, whose thoughts do not end, or whose tags have other
// words, which a prompt may have asked for.
func WithoutThoughts(text string) string {
	end := textStart(text)
	for {
		start := skipSpace(text, end)
		if start == len(text) {
			return text
		}
		m := markAt(text, start)
		if m.kind != asideTag || m.until == "" && m.word != "think" {
			break
		}
		until := asideEnd(text, m)
		if until == len(text) {
			return text
		}
		end = max(markAt(text, until).end, until)
	}
	if at := unopenedThought(text, end); at >= 0 && isAlone(text, tagAt(text, at)) {
		end = tagAt(text, at).end
	}
	said := strings.TrimSpace(text[end:])
	answer := finalOf(said)
	if end == textStart(text) && answer == said || answer == "" || strings.HasPrefix(answer, "<|") {
		return text
	}
	return answer
}

// finalOf returns what gpt-oss says in the one message of its channel final; any other text as it is.
func finalOf(said string) string {
	message := strings.TrimPrefix(said, "<|start|>assistant")
	answer, isFinal := strings.CutPrefix(message, "<|channel|>final<|message|>")
	answer = strings.TrimSuffix(strings.TrimSuffix(answer, "<|return|>"), "<|end|>")
	if !isFinal || strings.Contains(answer, "<|") {
		return said
	}
	return strings.TrimSpace(answer)
}

// isAlone reports whether a mark stands alone on its line, outside of a code block.
func isAlone(text string, m mark) bool {
	line := text[strings.LastIndexByte(text[:m.start], '\n')+1:]
	line, _, _ = strings.Cut(line, "\n")
	return strings.TrimSpace(line) == text[m.start:m.end] && strings.Count(text[:m.start], "```")%2 == 0
}
