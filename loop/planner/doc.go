// Package planner has planners made of data: [Ladder] goes on with the next model, or waits, where a rate
// limit is used up. It keeps no state, and the same question has the same answer.
package planner
