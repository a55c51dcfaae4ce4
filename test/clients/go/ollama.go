package main

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/ollama/ollama/api"
)

var ollamaClient = client{
	name:   "ollama/api (Go)",
	module: "github.com/ollama/ollama",
	setUp:  `api.NewClient(&url.URL{Scheme: "https", Host: "postern"}, &http.Client{Transport: withKey})`,
	remark: "has no setting for a key: add the header with your own transport",
	lists: func(ctx context.Context, at gateway, _ arguments) (any, error) {
		one, err := ollamaAt(at)
		if err != nil {
			return nil, err
		}
		answer, err := one.List(ctx)
		if err != nil {
			return nil, err
		}
		names := []string{}
		for _, model := range answer.Models {
			names = append(names, strings.TrimSuffix(model.Name, ":latest"))
		}
		return names, nil
	},
	ways: map[string]way{
		"embeddings": {"`Embed`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			one, err := ollamaAt(at)
			if err != nil {
				return nil, err
			}
			answer, err := one.Embed(ctx, &api.EmbedRequest{Model: at.Model, Input: with.Texts})
			if err != nil {
				return nil, err
			}
			return answer.Embeddings, nil
		}},
		"completions": {"`Generate`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			parts, err := generated(ctx, at, with, false)
			return strings.Join(parts, ""), err
		}},
		"streams": {"`Generate` with `Stream`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			return generated(ctx, at, with, true)
		}},
		"chat": {"`Chat`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			parts, err := talked(ctx, at, with, false)
			return strings.Join(parts, ""), err
		}},
		"chatStreams": {"`Chat` with `Stream`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			return talked(ctx, at, with, true)
		}},
	},
}

func generated(ctx context.Context, at gateway, with arguments, stream bool) ([]string, error) {
	one, err := ollamaAt(at)
	if err != nil {
		return nil, err
	}
	parts := []string{}
	err = one.Generate(ctx, &api.GenerateRequest{Model: at.Model, Prompt: with.Prompt, Stream: &stream},
		func(part api.GenerateResponse) error {
			parts = append(parts, part.Response)
			return nil
		})
	return parts, err
}

func talked(ctx context.Context, at gateway, with arguments, stream bool) ([]string, error) {
	one, err := ollamaAt(at)
	if err != nil {
		return nil, err
	}
	parts := []string{}
	messages := []api.Message{{Role: "user", Content: with.Prompt}}
	err = one.Chat(ctx, &api.ChatRequest{Model: at.Model, Messages: messages, Stream: &stream},
		func(part api.ChatResponse) error {
			parts = append(parts, part.Message.Content)
			return nil
		})
	return parts, err
}

type withKey string

func (key withKey) RoundTrip(asked *http.Request) (*http.Response, error) {
	asked = asked.Clone(asked.Context())
	asked.Header.Set("authorization", "Bearer "+string(key))
	return http.DefaultTransport.RoundTrip(asked)
}

func ollamaAt(at gateway) (*api.Client, error) {
	base, err := url.Parse(at.URL)
	if err != nil {
		return nil, err
	}
	return api.NewClient(base, &http.Client{Transport: withKey(at.Key)}), nil
}
