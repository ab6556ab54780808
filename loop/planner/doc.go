// Package planner says what follows when a run's policy gives up: a [Planner] is asked a [Question] and
// answers with a plan. [Ladder] is one that is made of data: it goes on with the next model, or waits, where
// a rate limit is used up. It keeps no state, and the same question has the same answer.
package planner
