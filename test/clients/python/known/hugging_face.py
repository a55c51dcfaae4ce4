"""Hugging Face's client, pointed at an endpoint of one's own."""

NAME = "huggingface-hub (Python)"
ENVIRONMENT = "now"
PACKAGE = "huggingface-hub"
SET_UP = "InferenceClient(model='https://postern/tei/{model}/embed', token=key)"


def embed(gateway, texts):
    from huggingface_hub import InferenceClient

    client = InferenceClient(model=f"{gateway['url']}/tei/{gateway['model']}/embed", token=gateway["key"])
    return client.feature_extraction(texts).tolist()


WAYS = {"embeddings": ("`feature_extraction`", embed)}
