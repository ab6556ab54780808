// Package planner decides what follows when a run's policy gives up. A [Planner] gets a [Question] and
// answers with a plan. [Ladder] is a ready-made planner for rate limits: it waits or switches to the next
// model. It has no state and gives the same answer to the same question.
package planner
