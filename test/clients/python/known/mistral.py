"""Mistral's own client."""

NAME = "mistralai (Python)"
ENVIRONMENT = "now"
PACKAGE = "mistralai"
SET_UP = "Mistral(api_key=key, server_url='https://postern/mistral')"


def connect(gateway):
    from mistralai.client import Mistral

    return Mistral(api_key=gateway["key"], server_url=f"{gateway['url']}/mistral")


def embed(gateway, texts):
    answer = connect(gateway).embeddings.create(model=gateway["model"], inputs=texts)
    return [item.embedding for item in answer.data]


def moderate(gateway, texts):
    answer = connect(gateway).classifiers.moderate(model=gateway["model"], inputs=texts)
    return [any(result.categories.values()) for result in answer.results]


def talk(gateway, prompt):
    return {"model": gateway["model"], "messages": [{"role": "user", "content": prompt}]}


def chat(gateway, prompt):
    return connect(gateway).chat.complete(**talk(gateway, prompt)).choices[0].message.content


def chat_stream(gateway, prompt):
    return [event.data.choices[0].delta.content or "" for event in connect(gateway).chat.stream(**talk(gateway, prompt))]


def list_models(gateway):
    client = connect(gateway)
    listed = client.models.list().data
    return [client.models.retrieve(model_id=one.id).id for one in listed if one.capabilities is not None]


LISTS = list_models
WAYS = {
    "embeddings": ("`embeddings.create`", embed),
    "moderations": ("`classifiers.moderate`", moderate),
    "chat": ("`chat.complete`", chat),
    "chatStreams": ("`chat.stream`", chat_stream),
}
