package adk

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/retake-go/retake/adapter/kit/turns"
)

// feed passes a reply or an error to the core. A stream that broke is an error, and its pieces are not
// used.
func (r *run) feed(ctx context.Context, resp *model.LLMResponse, cause error) (turns.Verdict, error) {
	if cause != nil {
		return r.of.Failed(ctx, cause)
	}
	return r.of.Reply(ctx, reply(resp))
}

// streaming returns the names of the tools of a request that ADK runs without its plugins.
func streaming(req *model.LLMRequest) map[string]bool {
	var names map[string]bool
	for name, t := range req.Tools {
		if _, ok := t.(runnable); ok || !streams(t) {
			continue
		}
		if names == nil {
			names = map[string]bool{}
		}
		names[name] = true
	}
	return names
}

// offered returns the functions of a request. The error names a tool with an invalid schema.
func offered(req *model.LLMRequest) ([]turns.Offered, error) {
	if req.Config == nil {
		return nil, nil
	}
	var all []turns.Offered
	for _, t := range req.Config.Tools {
		if t == nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			parameters, err := parametersOf(d)
			if err != nil {
				return nil, fmt.Errorf("retake: tool %q: parameters: %w", d.Name, err)
			}
			all = append(all, turns.Offered{Name: d.Name, Description: d.Description,
				Parameters: string(parameters)})
		}
	}
	return all, nil
}

// parametersOf returns the JSON Schema of the arguments; nil for none.
func parametersOf(d *genai.FunctionDeclaration) ([]byte, error) {
	switch {
	case d.ParametersJsonSchema != nil:
		return json.Marshal(d.ParametersJsonSchema)
	case d.Parameters != nil:
		return json.Marshal(jsonSchema(d.Parameters))
	}
	return nil, nil
}

// jsonSchema converts a schema of genai, which is a subset of OpenAPI's. Formats are dropped.
func jsonSchema(s *genai.Schema) map[string]any {
	out := map[string]any{}
	for key, n := range map[string]*int64{
		"minLength": s.MinLength, "maxLength": s.MaxLength, "minItems": s.MinItems, "maxItems": s.MaxItems,
		"minProperties": s.MinProperties, "maxProperties": s.MaxProperties,
	} {
		if n != nil {
			out[key] = *n
		}
	}
	for key, n := range map[string]*float64{"minimum": s.Minimum, "maximum": s.Maximum} {
		if n != nil {
			out[key] = *n
		}
	}
	if s.Type != "" && s.Type != genai.TypeUnspecified {
		out["type"] = orNull(s, strings.ToLower(string(s.Type)))
	}
	if s.Pattern != "" {
		out["pattern"] = s.Pattern
	}
	if len(s.Required) > 0 {
		out["required"] = s.Required
	}
	nested(out, s)
	return out
}

// orNull returns a type, with null if the schema allows it.
func orNull(s *genai.Schema, name string) any {
	if s.Nullable != nil && *s.Nullable && name != "null" {
		return []string{name, "null"}
	}
	return name
}

// nested adds the keywords that hold schemas or values.
func nested(out map[string]any, s *genai.Schema) {
	if len(s.Enum) > 0 {
		values := make([]any, 0, len(s.Enum)+1)
		for _, v := range s.Enum {
			values = append(values, v)
		}
		if s.Nullable != nil && *s.Nullable {
			values = append(values, nil)
		}
		out["enum"] = values
	}
	if s.Items != nil {
		out["items"] = jsonSchema(s.Items)
	}
	if len(s.Properties) > 0 {
		properties := map[string]any{}
		for name, p := range s.Properties {
			properties[name] = jsonSchema(p)
		}
		out["properties"] = properties
	}
	var either []any
	for _, o := range s.AnyOf {
		either = append(either, jsonSchema(o))
	}
	if either != nil {
		out["anyOf"] = either
	}
}

// streams reports whether a tool streams its result to ADK.
func streams(t any) bool {
	_, ok := t.(interface {
		RunStream(ctx agent.Context, args any) iter.Seq2[string, error]
	})
	return ok
}

// leaveUnwatched ends the calls that ADK makes without its plugins. To the core they are over, and cost
// nothing.
func (r *run) leaveUnwatched(ctx context.Context, resp *model.LLMResponse) {
	for _, c := range functionCalls(resp.Content) {
		r.mu.Lock()
		left := r.unwatched[c.Name]
		r.mu.Unlock()
		if !left {
			continue
		}
		if claimed := r.claim(c.ID, c.Name, c.Args); claimed != nil {
			claimed.Forget(ctx)
		}
	}
}
