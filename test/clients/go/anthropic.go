package main

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
)

var anthropicClient = client{
	name:   "anthropic-sdk-go (Go)",
	module: "github.com/anthropics/anthropic-sdk-go",
	setUp:  `anthropic.NewClient(option.WithBaseURL("https://postern"), option.WithAPIKey(key))`,
	ways: map[string]way{
		"messages": {"`Messages.New`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			answer, err := anthropicAt(at).Messages.New(ctx, messageOf(at, with))
			if err != nil {
				return nil, err
			}
			return answer.Content[0].Text, nil
		}},
		"messageStreams": {"`Messages.NewStreaming`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			events := anthropicAt(at).Messages.NewStreaming(ctx, messageOf(at, with))
			parts := []string{}
			for events.Next() {
				parts = append(parts, events.Current().Delta.Text)
			}
			return parts, events.Err()
		}},
	},
}

func anthropicAt(at gateway) *anthropic.Client {
	one := anthropic.NewClient(
		anthropicoption.WithBaseURL(at.URL), anthropicoption.WithAPIKey(at.Key), anthropicoption.WithMaxRetries(0))
	return &one
}

func messageOf(at gateway, with arguments) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model:     anthropic.Model(at.Model),
		MaxTokens: 99,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(with.Prompt))},
	}
}
