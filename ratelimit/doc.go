// Package ratelimit parses the rate-limit headers of a provider's response into windows and a wait. The same
// headers and the same time always give the same State. The case and order of headers and the machine's time
// zone do not matter.
//
// [Parse] reads headers, and [Response.Limits] a body, too. State.RetryAfter is what the server asks for;
// State.Wait is derived from exhausted windows. What cannot be parsed is in State.Ignored; what is unknown is
// absent.
//
// The package knows OpenAI, Anthropic, Cerebras, Groq, Mistral, Azure OpenAI and GitHub Models, OpenRouter,
// Gemini, Bedrock, Cohere, Fireworks, Together, LiteLLM proxies, the IETF RateLimit fields
// (draft-ietf-httpapi-ratelimit-headers, all versions) and the x-ratelimit-* family in general. The JSON of a
// State is the RateLimitState of agent results.
package ratelimit
