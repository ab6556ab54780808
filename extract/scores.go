package extract

// callScore is how many points make a call of an object with a name.
const callScore = 10

// isCall distinguishes a call from other objects with a name, such as a tool's definition. It adds up the
// points of each fact that holds.
func (p *parse) isCall(o parts, known bool, at setting) bool {
	score := 0
	for _, fact := range [...]struct {
		points int
		holds  bool
	}{
		{10, at.clear},   // only calls can be in its place
		{5, known},       // it names a tool that is offered
		{6, o.args != 0}, // a member holds arguments
		{5, known && o.args == 0 && o.others+o.metas > 0}, // no member does, but it has other members
		{4, at.listed},               // it is an element of a list
		{-5, !known && o.others > 0}, // it has members that do not belong to a call
		{-10, !at.clear && o.args != 0 && p.isSchema(o.args)}, // its arguments are a schema
	} {
		if fact.holds {
			score += fact.points
		}
	}
	return score >= callScore
}
