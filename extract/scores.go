package extract

// evidence is what speaks for a candidate, or against it.
type evidence uint16

const (
	onlyCalls evidence = 1 << iota
	registered
	withArguments
	inlineArguments
	inList
	otherMembers
	definition

	wholeText
	aloneInFence
	moreThanNumbers
)

// scores are the points of each piece of evidence. They are added up.
var scores = [...]struct {
	evidence
	points int
}{
	// An object that names something is a call from callScore on.
	{onlyCalls, 10},      // it stands where nothing but calls can stand
	{registered, 5},      // it names a tool that is offered
	{withArguments, 6},   // a member holds arguments
	{inlineArguments, 5}, // none does, but it names a tool, and has other members
	{inList, 4},          // it is an element of a list
	{otherMembers, -5},   // it names no tool, and has members that say nothing of a call
	{definition, -10},    // its arguments are a schema, where other things than calls can stand

	// Of the values in a text the one with the most points is taken; of equals, the first.
	{wholeText, 8},       // it is all of the text, or of what follows a thought
	{aloneInFence, 4},    // it is all that a fence holds
	{moreThanNumbers, 2}, // it is no list of mere numbers, such as the [1] of a footnote
}

const callScore = 10

func (e evidence) score() (sum int) {
	for _, s := range scores {
		if e&s.evidence != 0 {
			sum += s.points
		}
	}
	return sum
}

// when is a piece of evidence where a fact holds.
func (e evidence) when(fact bool) evidence {
	if fact {
		return e
	}
	return 0
}

// isCall tells a call from other JSON that has a name: a tool's definition, a record of something else.
func (p *parse) isCall(o parts, known bool, at setting) bool {
	e := onlyCalls.when(at.clear) | registered.when(known) | inList.when(at.listed) |
		withArguments.when(o.args != 0) | inlineArguments.when(known && o.args == 0 && o.others+o.metas > 0) |
		otherMembers.when(!known && o.others > 0) |
		definition.when(!at.clear && o.args != 0 && p.isSchema(o.args))
	return e.score() >= callScore
}
