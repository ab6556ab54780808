package adk

import (
	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

type usage = genai.GenerateContentResponseUsageMetadata

func usageOf(resp *model.LLMResponse) *usage {
	if resp == nil {
		return nil
	}
	return resp.UsageMetadata
}

// withUsage returns a reply whose usage includes that of the replies before it which were not accepted, so
// that ADK's spans and events have all tokens.
func withUsage(resp *model.LLMResponse, spent *usage) *model.LLMResponse {
	if resp == nil || spent == nil {
		return resp
	}
	own := *resp
	own.UsageMetadata = sum(spent, resp.UsageMetadata)
	return &own
}

// costOf returns what comes with the error of a call that has ended the run: the usage of all its replies,
// for ADK's spans; nil if there is none.
func costOf(resp *model.LLMResponse, spent *usage) *model.LLMResponse {
	if u := usageOf(resp); u != nil {
		spent = u
	}
	if spent == nil {
		return nil
	}
	return &model.LLMResponse{UsageMetadata: spent}
}

// sum adds the numbers of two usages. Details by modality are those of the later one.
func sum(x, y *usage) *usage {
	if x == nil || y == nil {
		if x == nil {
			return y
		}
		return x
	}
	all := *y
	all.PromptTokenCount += x.PromptTokenCount
	all.CachedContentTokenCount += x.CachedContentTokenCount
	all.CandidatesTokenCount += x.CandidatesTokenCount
	all.ThoughtsTokenCount += x.ThoughtsTokenCount
	all.ToolUsePromptTokenCount += x.ToolUsePromptTokenCount
	all.TotalTokenCount += x.TotalTokenCount
	return &all
}
