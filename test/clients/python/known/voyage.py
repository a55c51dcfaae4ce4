"""Voyage's own client, which can set no header."""

NAME = "voyageai (Python)"
ENVIRONMENT = "now"
PACKAGE = "voyageai"
SET_UP = "voyageai.Client(api_key=key, base_url='https://postern/voyage/v1')"


def connect(gateway):
    import voyageai

    return voyageai.Client(api_key=gateway["key"], base_url=f"{gateway['url']}/voyage/v1", max_retries=0)


def embed(gateway, texts):
    return connect(gateway).embed(texts, model=gateway["model"]).embeddings


def rerank(gateway, query, documents, topN):
    answer = connect(gateway).rerank(query, documents, model=gateway["model"], top_k=topN)
    return [{"index": one.index, "score": one.relevance_score} for one in answer.results]


WAYS = {"embeddings": ("`embed`", embed), "rerank": ("`rerank`", rerank)}
