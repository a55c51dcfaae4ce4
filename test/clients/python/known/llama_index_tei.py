"""LlamaIndex with Text Embeddings Inference."""

NAME = "llama-index with TEI (Python)"
ENVIRONMENT = "now"
PACKAGE = "llama-index-embeddings-text-embeddings-inference"
BESIDE = ["llama-index-core"]
SET_UP = "TextEmbeddingsInference(model_name=m, base_url='https://postern/tei/{model}', auth_token=key)"


def embed(gateway, texts):
    from llama_index.embeddings.text_embeddings_inference import TextEmbeddingsInference

    client = TextEmbeddingsInference(
        model_name=gateway["model"],
        base_url=f"{gateway['url']}/tei/{gateway['model']}",
        auth_token=gateway["key"],
        embed_batch_size=1000,
    )
    return client.get_text_embedding_batch(texts)


WAYS = {"embeddings": ("`TextEmbeddingsInference`", embed)}
