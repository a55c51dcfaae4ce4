"""Haystack with Jina's ranker."""

from known.haystack_cohere import ranked

NAME = "jina-haystack (Python)"
ENVIRONMENT = "now"
PACKAGE = "jina-haystack"
BESIDE = ["haystack-ai"]
SET_UP = "JinaRanker(model=m, api_key=Secret.from_token(key), base_url='https://postern/jina/v1/rerank')"


def rerank(gateway, query, documents, topN):
    from haystack.utils import Secret
    from haystack_integrations.components.rankers.jina import JinaRanker

    client = JinaRanker(
        model=gateway["model"],
        api_key=Secret.from_token(gateway["key"]),
        base_url=f"{gateway['url']}/jina/v1/rerank",
        top_k=topN,
    )
    return ranked(client, query, documents)


WAYS = {"rerank": ("`JinaRanker`", rerank)}
