"""Haystack with what it has for Text Embeddings Inference."""

from known.haystack_cohere import ranked

NAME = "huggingface-api-haystack (Python)"
ENVIRONMENT = "now"
PACKAGE = "huggingface-api-haystack"
BESIDE = ["haystack-ai", "huggingface-hub"]
SET_UP = "HuggingFaceAPIDocumentEmbedder(api_type='text_embeddings_inference', api_params={'url': 'https://postern/tei/{model}'}, token=Secret.from_token(key))"
REMARK = "`HuggingFaceTEIRanker` ignores a path in its `url`: use `https://postern`, and set `default_model.rerank`"


def secret(gateway):
    from haystack.utils import Secret

    return Secret.from_token(gateway["key"])


def embed(gateway, texts):
    from haystack import Document
    from haystack_integrations.components.embedders.huggingface_api import HuggingFaceAPIDocumentEmbedder

    client = HuggingFaceAPIDocumentEmbedder(
        api_type="text_embeddings_inference",
        api_params={"url": f"{gateway['url']}/tei/{gateway['model']}"},
        token=secret(gateway),
        progress_bar=False,
    )
    found = client.run(documents=[Document(id=str(place), content=text) for place, text in enumerate(texts)])
    return [one.embedding for one in found["documents"]]


def rerank(gateway, query, documents, topN):
    from haystack_integrations.components.rankers.huggingface_api import HuggingFaceTEIRanker

    client = HuggingFaceTEIRanker(url=f"{gateway['url']}/tei/{gateway['model']}/rerank", token=secret(gateway), top_k=topN)
    return ranked(client, query, documents)


WAYS = {
    "embeddings": ("`HuggingFaceAPIDocumentEmbedder`", embed),
    "rerank": ("`HuggingFaceTEIRanker`", rerank),
}
