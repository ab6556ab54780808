package extract_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/extract"
)

func TestAnAnswerWithoutTheThoughtsBeforeIt(t *testing.T) {
	for text, want := range map[string]string{
		"<think>Paris, I think.</think>Paris":                            "Paris",
		"\ufeff <think>\nHm.\n</think>\n\n<think>Yes.</think>\nParis \n": "Paris",
		"<THINK>a</Think>Paris":                                          "Paris",
		"<think></think>\n\nParis":                                       "Paris",
		"[THINK]Hm.[/THINK]Paris":                                        "Paris",
		"[THINK][/THINK]Paris":                                           "Paris",
		"<|channel>thought\nHm.<channel|>Paris":                          "Paris",
		"<|think:start|>Hm.<|think:end|>Paris":                           "Paris",
		"<|channel|>final<|message|>Paris<|return|>":                     "Paris",
		"<|start|>assistant<|channel|>final<|message|>Paris":             "Paris",
		"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Paris.<|return|>":                                        "Paris.",
		"<|channel|>analysis<|message|>Hm.<|end|>\n<|channel|>analysis<|message|>Yes.<|end|><|start|>assistant<|channel|>final<|message|>Paris<|end|>": "Paris",
		"They ask for a city.\n</think>\n\nParis":  "Paris",
		"```\nf()\n```\nSo.\r\n</think>\r\nParis":  "Paris",
		"</think>\n\nParis":                        "Paris",
		"<think>Hm.</think>Write `<think>` first.": "Write `<think>` first.",
	} {
		assert.Equal(t, want, extract.WithoutThoughts(text), text)
	}
	for _, text := range []string{
		"", " Paris\n", "\ufeff", "<b>Paris</b>",
		"<think>Hm.</think>", "<think>Paris", // nothing else, or without an end
		"Paris <think>or Lyon?</think>", "I end my thoughts with </think> and go on.",
		"Write:\n```\n</think>\n```\nand go on.", "Write:\n<think>\n</think>\nand go on.",
		"<thinking>Hm.</thinking>Paris", "<reasoning>Hm.</reasoning>Paris", "<scratchpad>1</scratchpad>2", // a prompt may ask for these
		"<tool_response>1</tool_response>Paris",
		"<|channel|>analysis<|message|>Hm.", "<|channel|>analysis<|message|>Hm.<|end|>", "<|channel|>final<|message|><|return|>",
		"Paris<|channel|>final<|message|>Lyon", "<|channel|>commentary<|message|>I look.<|end|><|channel|>final<|message|>Paris",
		"<|channel|>final<|message|>Paris<|end|><|start|>assistant<|channel|>final<|message|>Lyon",
	} {
		assert.Equal(t, text, extract.WithoutThoughts(text))
	}
}
