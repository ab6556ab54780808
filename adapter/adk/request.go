package adk

import (
	"cmp"
	"math"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/retake-go/retake/loop/machine"
	retake "github.com/retake-go/retake/message"
)

// asking returns a request with the settings of the core's model call in place of ADK's own.
func asking(req *model.LLMRequest, c machine.ModelCall) *model.LLMRequest {
	asked, cfg := *req, genai.GenerateContentConfig{}
	if req.Config != nil {
		cfg = *req.Config
	}
	asked.Config, asked.Model = &cfg, cmp.Or(c.Model, req.Model)
	if c.Temperature != nil {
		cfg.Temperature = new(float32(*c.Temperature))
	}
	if n := c.MaxOutputTokens; n > 0 && (cfg.MaxOutputTokens <= 0 || n < int64(cfg.MaxOutputTokens)) {
		cfg.MaxOutputTokens = int32(min(n, math.MaxInt32))
	}
	if len(c.Stop) > 0 {
		cfg.StopSequences = c.Stop
	}
	if c.ToolChoice != "" {
		var tools genai.ToolConfig
		if cfg.ToolConfig != nil {
			tools = *cfg.ToolConfig
		}
		tools.FunctionCallingConfig, cfg.ToolConfig = choice(c.ToolChoice), &tools
	}
	return &asked
}

func choice(c retake.ToolChoice) *genai.FunctionCallingConfig {
	if c == retake.NoTool {
		return &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeNone}
	}
	calling := &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny}
	if name := c.Tool(); name != "" {
		calling.AllowedFunctionNames = []string{name}
	}
	return calling
}
