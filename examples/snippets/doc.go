// Package snippets links what the programs of README.md and docs import. Its test builds and runs them, and
// those of the adapters' READMEs.
package snippets

import (
	_ "go.temporal.io/sdk/worker"

	_ "github.com/retake-go/retake/adapter/kit/chat"
	_ "github.com/retake-go/retake/adapter/kit/kittest"
	_ "github.com/retake-go/retake/adapter/sqlite"
	_ "github.com/retake-go/retake/adapter/temporal"
	_ "github.com/retake-go/retake/looptest/scenario"
)
