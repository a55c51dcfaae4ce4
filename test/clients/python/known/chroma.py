"""Chroma's embedding function for OpenAI."""

NAME = "chromadb (Python)"
ENVIRONMENT = "newest"
PACKAGE = "chromadb"
BESIDE = ["openai"]
SET_UP = "OpenAIEmbeddingFunction(model_name=m, api_base='https://postern/v1', api_key=key)"


def embed(gateway, texts):
    from chromadb.utils.embedding_functions import OpenAIEmbeddingFunction

    function = OpenAIEmbeddingFunction(
        model_name=gateway["model"], api_base=f"{gateway['url']}/v1", api_key=gateway["key"]
    )
    return [[float(number) for number in vector] for vector in function(texts)]


WAYS = {"embeddings": ("`OpenAIEmbeddingFunction`", embed)}
