"""Haystack with Cohere's ranker."""

NAME = "cohere-haystack (Python)"
ENVIRONMENT = "now"
PACKAGE = "cohere-haystack"
BESIDE = ["haystack-ai"]
SET_UP = "CohereRanker(model=m, api_key=Secret.from_token(key), api_base_url='https://postern')"


def rerank(gateway, query, documents, topN):
    from haystack.utils import Secret
    from haystack_integrations.components.rankers.cohere import CohereRanker

    client = CohereRanker(
        model=gateway["model"], api_key=Secret.from_token(gateway["key"]), api_base_url=gateway["url"], top_k=topN
    )
    return ranked(client, query, documents)


def ranked(client, query, documents):
    from haystack import Document

    found = client.run(query=query, documents=[Document(content=text) for text in documents])["documents"]
    return [{"index": documents.index(one.content), "score": one.score} for one in found]


def embed(gateway, texts):
    from haystack import Document
    from haystack.utils import Secret
    from haystack_integrations.components.embedders.cohere import CohereDocumentEmbedder

    client = CohereDocumentEmbedder(
        model=gateway["model"],
        api_key=Secret.from_token(gateway["key"]),
        api_base_url=gateway["url"],
        progress_bar=False,
    )
    found = client.run(documents=[Document(id=str(place), content=text) for place, text in enumerate(texts)])
    return [one.embedding for one in found["documents"]]


WAYS = {"rerank": ("`CohereRanker`", rerank), "embeddings": ("`CohereDocumentEmbedder`", embed)}
