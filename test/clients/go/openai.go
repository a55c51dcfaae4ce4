package main

import (
	"context"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

var openAIClient = client{
	name:   "openai-go (Go)",
	module: "github.com/openai/openai-go/v3",
	setUp:  `openai.NewClient(option.WithBaseURL("https://postern/v1"), option.WithAPIKey(key))`,
	lists: func(ctx context.Context, at gateway, _ arguments) (any, error) {
		page, err := openAIAt(at).Models.List(ctx)
		if err != nil {
			return nil, err
		}
		ids := []string{}
		for _, one := range page.Data {
			ids = append(ids, one.ID)
		}
		return ids, nil
	},
	ways: map[string]way{
		"embeddings": {"`Embeddings.New`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			answer, err := openAIAt(at).Embeddings.New(ctx, openai.EmbeddingNewParams{
				Model: at.Model,
				Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: with.Texts},
			})
			if err != nil {
				return nil, err
			}
			vectors := [][]float64{}
			for _, item := range answer.Data {
				vectors = append(vectors, item.Embedding)
			}
			return vectors, nil
		}},
		"moderations": {"`Moderations.New`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			answer, err := openAIAt(at).Moderations.New(ctx, openai.ModerationNewParams{
				Model: at.Model,
				Input: openai.ModerationNewParamsInputUnion{OfStringArray: with.Texts},
			})
			if err != nil {
				return nil, err
			}
			flags := []bool{}
			for _, result := range answer.Results {
				flags = append(flags, result.Flagged)
			}
			return flags, nil
		}},
		"completions": {"`Completions.New`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			answer, err := openAIAt(at).Completions.New(ctx, completionOf(at, with))
			if err != nil {
				return nil, err
			}
			return answer.Choices[0].Text, nil
		}},
		"streams": {"`Completions.NewStreaming`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			events := openAIAt(at).Completions.NewStreaming(ctx, completionOf(at, with))
			parts := []string{}
			for events.Next() {
				for _, choice := range events.Current().Choices {
					parts = append(parts, choice.Text)
				}
			}
			return parts, events.Err()
		}},
		"chat": {"`Chat.Completions.New`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			answer, err := openAIAt(at).Chat.Completions.New(ctx, chatOf(at, with))
			if err != nil {
				return nil, err
			}
			return answer.Choices[0].Message.Content, nil
		}},
		"chatStreams": {"`Chat.Completions.NewStreaming`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			events := openAIAt(at).Chat.Completions.NewStreaming(ctx, chatOf(at, with))
			parts := []string{}
			for events.Next() {
				for _, choice := range events.Current().Choices {
					parts = append(parts, choice.Delta.Content)
				}
			}
			return parts, events.Err()
		}},
		"responses": {"`Responses.New`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			answer, err := openAIAt(at).Responses.New(ctx, responseOf(at, with))
			if err != nil {
				return nil, err
			}
			return answer.OutputText(), nil
		}},
		"responseStreams": {"`Responses.NewStreaming`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			events := openAIAt(at).Responses.NewStreaming(ctx, responseOf(at, with))
			parts := []string{}
			for events.Next() {
				if event := events.Current(); event.Type == "response.output_text.delta" {
					parts = append(parts, event.Delta)
				}
			}
			return parts, events.Err()
		}},
	},
}

func openAIAt(at gateway) *openai.Client {
	one := openai.NewClient(option.WithBaseURL(at.URL+"/v1"), option.WithAPIKey(at.Key), option.WithMaxRetries(0))
	return &one
}

func chatOf(at gateway, with arguments) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    at.Model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(with.Prompt)},
	}
}

func responseOf(at gateway, with arguments) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: at.Model,
		Store: openai.Bool(false),
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(with.Prompt)},
	}
}

func completionOf(at gateway, with arguments) openai.CompletionNewParams {
	return openai.CompletionNewParams{
		Model:  openai.CompletionNewParamsModel(at.Model),
		Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String(with.Prompt)},
	}
}
