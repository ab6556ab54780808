// Package ratelimit turns the rate-limit headers of a provider's response into windows and one answer to "how
// long": the same headers and the same now always give the same State, whatever their case and order and the
// machine's time zone.
//
// [Parse] reads headers, and a body where one is given with [WithBody]. What a server asks for outright is
// State.RetryAfter; what follows from exhausted windows is State.Wait; the two are never mixed. What cannot
// be read is listed in State.Ignored, and what is not known is absent.
//
// The package knows OpenAI, Anthropic, Cerebras, Groq, Mistral, Azure OpenAI and GitHub Models, OpenRouter,
// Gemini, Bedrock, Cohere, Fireworks, Together, LiteLLM proxies, the IETF RateLimit fields
// (draft-ietf-httpapi-ratelimit-headers, all of its forms) and the x-ratelimit-* family in general. The form
// of a State is that of agent results (RateLimitState).
package ratelimit
