// Package openaiagents measures the row of runs with openai-agents-go, in a module of its own, so that it is
// built with the versions of the SDKs that it names. Everything is in its tests. It has no row of checks: its
// strict schemas refuse types with maps, and without a schema a tool is encoding/json.
package openaiagents
