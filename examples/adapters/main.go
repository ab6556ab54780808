// Command adapters is one program with every adapter. It does nothing: that it is built says that the
// adapters and their SDKs can be used together.
package main

import (
	"fmt"

	"github.com/retake-go/retake/adapter/adk"
	"github.com/retake-go/retake/adapter/anthropic"
	"github.com/retake-go/retake/adapter/anthropicv2"
	"github.com/retake-go/retake/adapter/dbos"
	"github.com/retake-go/retake/adapter/eino"
	"github.com/retake-go/retake/adapter/genai"
	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/adapter/ollama"
	"github.com/retake-go/retake/adapter/openai"
	"github.com/retake-go/retake/adapter/otel"
	"github.com/retake-go/retake/adapter/postgres"
	"github.com/retake-go/retake/adapter/redis"
	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/adapter/temporal"
)

// parts has a function of each adapter, so that the linker keeps it.
var parts = map[string]any{
	"adk": adk.New, "anthropic": anthropic.New, "anthropicv2": anthropicv2.New, "dbos": dbos.Register, "eino": eino.New, "genai": genai.New, "mcp": mcp.Tools, "ollama": ollama.New,
	"openai": openai.New, "otel": otel.New, "postgres": postgres.New, "redis": redis.NewLimits, "sqlite": sqlite.Open,
	"temporal": temporal.Register,
}

func main() { fmt.Println(len(parts), "adapters in one program") }
