package extract

// evidence is a set of facts for or against a call.
type evidence uint8

const (
	onlyCalls evidence = 1 << iota
	registered
	withArguments
	inlineArguments
	inList
	otherMembers
	definition
)

// scores are the points of each fact. They are added up: an object with a name is a call if it has callScore
// points.
var scores = [...]struct {
	evidence
	points int
}{
	{onlyCalls, 10},      // only calls can be in its place
	{registered, 5},      // it names a tool that is offered
	{withArguments, 6},   // a member holds arguments
	{inlineArguments, 5}, // no member does, but it names a tool and has other members
	{inList, 4},          // it is an element of a list
	{otherMembers, -5},   // it names no tool, and has members that do not belong to a call
	{definition, -10},    // its arguments are a schema, and not only calls can be in its place
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

// when is the evidence if the fact holds.
func (e evidence) when(fact bool) evidence {
	if fact {
		return e
	}
	return 0
}

// isCall distinguishes a call from other objects with a name, such as a tool's definition.
func (p *parse) isCall(o parts, known bool, at setting) bool {
	e := onlyCalls.when(at.clear) | registered.when(known) | inList.when(at.listed) |
		withArguments.when(o.args != 0) | inlineArguments.when(known && o.args == 0 && o.others+o.metas > 0) |
		otherMembers.when(!known && o.others > 0) |
		definition.when(!at.clear && o.args != 0 && p.isSchema(o.args))
	return e.score() >= callScore
}
