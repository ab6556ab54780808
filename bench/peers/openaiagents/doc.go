// Package openaiagents measures the row of runs with openai-agents-go, in its own module, with the SDK
// versions that it requires. Everything is in its tests. It has no row of checks: its strict schemas refuse
// types with maps, and without a schema a tool uses encoding/json.
package openaiagents
