"""Cohere's own client, in its first version."""

NAME = "cohere v1 (Python)"
ENVIRONMENT = "now"
PACKAGE = "cohere"
SET_UP = "cohere.Client(api_key=key, base_url='https://postern')"


def rerank(gateway, query, documents, topN):
    import cohere

    client = cohere.Client(api_key=gateway["key"], base_url=gateway["url"])
    answer = client.rerank(model=gateway["model"], query=query, documents=documents, top_n=topN)
    return [{"index": one.index, "score": one.relevance_score} for one in answer.results]


def embed(gateway, texts):
    import cohere

    client = cohere.Client(api_key=gateway["key"], base_url=gateway["url"])
    return client.embed(model=gateway["model"], texts=texts).embeddings


WAYS = {"rerank": ("`rerank`", rerank), "embeddings": ("`embed`", embed)}
