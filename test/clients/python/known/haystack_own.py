"""Haystack with what it has for OpenAI."""

NAME = "haystack-ai (Python)"
ENVIRONMENT = "now"
PACKAGE = "haystack-ai"
SET_UP = "OpenAIDocumentEmbedder(model=m, api_key=Secret.from_token(key), api_base_url='https://postern/v1')"


def options(gateway):
    from haystack.utils import Secret

    secret = Secret.from_token(gateway["key"])
    return {"model": gateway["model"], "api_key": secret, "api_base_url": f"{gateway['url']}/v1", "max_retries": 0}


def embed(gateway, texts):
    from haystack import Document
    from haystack.components.embedders import OpenAIDocumentEmbedder

    client = OpenAIDocumentEmbedder(progress_bar=False, **options(gateway))
    found = client.run(documents=[Document(id=str(place), content=text) for place, text in enumerate(texts)])
    return [one.embedding for one in found["documents"]]


def chat(gateway, prompt):
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.dataclasses import ChatMessage

    return OpenAIChatGenerator(**options(gateway)).run([ChatMessage.from_user(prompt)])["replies"][0].text


WAYS = {"embeddings": ("`OpenAIDocumentEmbedder`", embed), "chat": ("`OpenAIChatGenerator`", chat)}
