package main

import (
	"context"
	"errors"
	"io"

	sashabaranov "github.com/sashabaranov/go-openai"
)

var goOpenAIClient = client{
	name:   "go-openai (Go)",
	module: "github.com/sashabaranov/go-openai",
	setUp:  `config := openai.DefaultConfig(key); config.BaseURL = "https://postern/v1"`,
	lists: func(ctx context.Context, at gateway, _ arguments) (any, error) {
		answer, err := goOpenAIAt(at).ListModels(ctx)
		if err != nil {
			return nil, err
		}
		ids := []string{}
		for _, one := range answer.Models {
			ids = append(ids, one.ID)
		}
		return ids, nil
	},
	ways: map[string]way{
		"embeddings": {"`CreateEmbeddings`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			answer, err := goOpenAIAt(at).CreateEmbeddings(ctx, sashabaranov.EmbeddingRequestStrings{
				Input: with.Texts,
				Model: sashabaranov.EmbeddingModel(at.Model),
			})
			if err != nil {
				return nil, err
			}
			vectors := [][]float32{}
			for _, item := range answer.Data {
				vectors = append(vectors, item.Embedding)
			}
			return vectors, nil
		}},
		"completions": {"`CreateCompletion`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			answer, err := goOpenAIAt(at).CreateCompletion(ctx, sashabaranov.CompletionRequest{Model: at.Model, Prompt: with.Prompt})
			if err != nil {
				return nil, err
			}
			return answer.Choices[0].Text, nil
		}},
		"chat": {"`CreateChatCompletion`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			answer, err := goOpenAIAt(at).CreateChatCompletion(ctx, sashabaranov.ChatCompletionRequest{
				Model:    at.Model,
				Messages: []sashabaranov.ChatCompletionMessage{{Role: "user", Content: with.Prompt}},
			})
			if err != nil {
				return nil, err
			}
			return answer.Choices[0].Message.Content, nil
		}},
		"streams": {"`CreateCompletionStream`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			events, err := goOpenAIAt(at).CreateCompletionStream(ctx, sashabaranov.CompletionRequest{Model: at.Model, Prompt: with.Prompt})
			if err != nil {
				return nil, err
			}
			defer events.Close()
			parts := []string{}
			for {
				event, err := events.Recv()
				if errors.Is(err, io.EOF) {
					return parts, nil
				}
				if err != nil {
					return nil, err
				}
				for _, choice := range event.Choices {
					parts = append(parts, choice.Text)
				}
			}
		}},
		"edits": {"`Edits`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			answer, err := goOpenAIAt(at).Edits(ctx, sashabaranov.EditsRequest{
				Model:       &at.Model,
				Input:       with.Input,
				Instruction: with.Instruction,
			})
			if err != nil {
				return nil, err
			}
			return answer.Choices[0].Text, nil
		}},
	},
}

func goOpenAIAt(at gateway) *sashabaranov.Client {
	config := sashabaranov.DefaultConfig(at.Key)
	config.BaseURL = at.URL + "/v1"
	return sashabaranov.NewClientWithConfig(config)
}
