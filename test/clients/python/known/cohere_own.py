"""Cohere's own client, in its second version."""

NAME = "cohere (Python)"
ENVIRONMENT = "now"
PACKAGE = "cohere"
SET_UP = "cohere.ClientV2(api_key=key, base_url='https://postern')"


def rerank(gateway, query, documents, topN):
    import cohere

    client = cohere.ClientV2(api_key=gateway["key"], base_url=gateway["url"])
    answer = client.rerank(model=gateway["model"], query=query, documents=documents, top_n=topN)
    return [{"index": one.index, "score": one.relevance_score} for one in answer.results]


def list_models(gateway):
    import cohere

    client = cohere.ClientV2(api_key=gateway["key"], base_url=gateway["url"])
    return [client.models.get(one.name).name for one in client.models.list(endpoint="embed").models]


def embed(gateway, texts):
    import cohere

    client = cohere.ClientV2(api_key=gateway["key"], base_url=gateway["url"])
    answer = client.embed(
        model=gateway["model"], texts=texts, input_type="search_document", embedding_types=["float"]
    )
    return answer.embeddings.float_


LISTS = list_models
WAYS = {"rerank": ("`rerank`", rerank), "embeddings": ("`embed`", embed)}
