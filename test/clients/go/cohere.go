package main

import (
	"context"

	cohere "github.com/cohere-ai/cohere-go/v2"
	coherev2 "github.com/cohere-ai/cohere-go/v2/client"
	"github.com/cohere-ai/cohere-go/v2/option"
)

var cohereClient = client{
	name:   "cohere-go (Go)",
	module: "github.com/cohere-ai/cohere-go/v2",
	setUp:  `client.NewClient(client.WithBaseURL("https://postern"), client.WithToken(key)).V2`,
	lists: func(ctx context.Context, at gateway, _ arguments) (any, error) {
		answer, err := cohereAt(at).Models.List(ctx, &cohere.ModelsListRequest{})
		if err != nil {
			return nil, err
		}
		names := []string{}
		for _, one := range answer.Models {
			if one.Name != nil {
				names = append(names, *one.Name)
			}
		}
		return names, nil
	},
	ways: map[string]way{
		"embeddings": {"`V2.Embed`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			answer, err := cohereAt(at).V2.Embed(ctx, &cohere.V2EmbedRequest{
				Model:          at.Model,
				Texts:          with.Texts,
				InputType:      cohere.EmbedInputTypeSearchDocument,
				EmbeddingTypes: []cohere.EmbeddingType{cohere.EmbeddingTypeFloat},
			})
			if err != nil {
				return nil, err
			}
			return answer.Embeddings.Float, nil
		}},
		"rerank": {"`V2.Rerank`", func(ctx context.Context, at gateway, with arguments) (any, error) {
			answer, err := cohereAt(at).V2.Rerank(ctx, &cohere.V2RerankRequest{
				Model:     at.Model,
				Query:     with.Query,
				Documents: with.Documents,
				TopN:      &with.TopN,
			})
			if err != nil {
				return nil, err
			}
			found := []scored{}
			for _, result := range answer.Results {
				found = append(found, scored{result.Index, result.RelevanceScore})
			}
			return found, nil
		}},
	},
}

func cohereAt(at gateway) *coherev2.Client {
	return coherev2.NewClient(option.WithBaseURL(at.URL), option.WithToken(at.Key), option.WithMaxAttempts(1))
}
