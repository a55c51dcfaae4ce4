package main

import (
	"context"

	"google.golang.org/genai"
)

var googleClient = client{
	name:   "genai (Go)",
	module: "google.golang.org/genai",
	setUp:  `genai.NewClient(ctx, &genai.ClientConfig{APIKey: key, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: "https://postern/gemini"}})`,
	lists: func(ctx context.Context, at gateway, _ arguments) (any, error) {
		one, err := googleAt(ctx, at)
		if err != nil {
			return nil, err
		}
		names := []string{}
		for model, err := range one.Models.All(ctx) {
			if err != nil {
				return nil, err
			}
			names = append(names, model.Name[len("models/"):])
		}
		return names, nil
	},
	ways: map[string]way{
		"embeddings": {"`Models.EmbedContent`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			one, err := googleAt(ctx, at)
			if err != nil {
				return nil, err
			}
			contents := []*genai.Content{}
			for _, text := range with.Texts {
				contents = append(contents, genai.NewContentFromText(text, genai.RoleUser))
			}
			answer, err := one.Models.EmbedContent(ctx, at.Model, contents, nil)
			if err != nil {
				return nil, err
			}
			vectors := [][]float32{}
			for _, embedding := range answer.Embeddings {
				vectors = append(vectors, embedding.Values)
			}
			return vectors, nil
		}},
		"generate": {"`Models.GenerateContent`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			one, err := googleAt(ctx, at)
			if err != nil {
				return nil, err
			}
			answer, err := one.Models.GenerateContent(ctx, at.Model, genai.Text(with.Prompt), nil)
			if err != nil {
				return nil, err
			}
			return answer.Text(), nil
		}},
		"generateStreams": {"`Models.GenerateContentStream`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			one, err := googleAt(ctx, at)
			if err != nil {
				return nil, err
			}
			parts := []string{}
			for part, err := range one.Models.GenerateContentStream(ctx, at.Model, genai.Text(with.Prompt), nil) {
				if err != nil {
					return nil, err
				}
				parts = append(parts, part.Text())
			}
			return parts, nil
		}},
	},
}

func googleAt(ctx context.Context, at gateway) (*genai.Client, error) {
	return genai.NewClient(ctx, &genai.ClientConfig{
		APIKey:      at.Key,
		Backend:     genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: at.URL + "/gemini"},
	})
}
