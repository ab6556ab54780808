package session

import "maps"

// MaxReply returns the most tokens of a reply that a model can write, if it has refused a request for more.
func (s State) MaxReply(model string) (tokens int64, known bool) {
	tokens, known = s.maxReplies[model]
	return tokens, known
}

// WithMaxReply returns s with the most tokens of a reply that a model can write; 0 or less means unknown.
func (s State) WithMaxReply(model string, tokens int64) State {
	if _, known := s.maxReplies[model]; !known && tokens <= 0 {
		return s
	}
	own := maps.Clone(s.maxReplies)
	if own == nil {
		own = map[string]int64{}
	}
	if own[model] = tokens; tokens <= 0 {
		delete(own, model)
	}
	s.maxReplies = own
	return s
}
