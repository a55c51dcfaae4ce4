"""OpenAI's own client."""

NAME = "openai (Python)"
ENVIRONMENT = "now"
PACKAGE = "openai"
SET_UP = "OpenAI(base_url='https://postern/v1', api_key=key)"


def connect(gateway):
    from openai import OpenAI

    return OpenAI(base_url=f"{gateway['url']}/v1", api_key=gateway["key"], max_retries=0)


def embed(gateway, texts):
    answer = connect(gateway).embeddings.create(model=gateway["model"], input=texts)
    return [item.embedding for item in answer.data]


def moderate(gateway, texts):
    answer = connect(gateway).moderations.create(model=gateway["model"], input=texts)
    return [result.flagged for result in answer.results]


def complete(gateway, prompt):
    return connect(gateway).completions.create(model=gateway["model"], prompt=prompt).choices[0].text


def stream(gateway, prompt):
    events = connect(gateway).completions.create(model=gateway["model"], prompt=prompt, stream=True)
    return [event.choices[0].text for event in events if event.choices]


def list_models(gateway):
    client = connect(gateway)
    return [client.models.retrieve(one.id).id for one in client.models.list()]


LISTS = list_models
WAYS = {
    "embeddings": ("`embeddings.create`", embed),
    "moderations": ("`moderations.create`", moderate),
    "completions": ("`completions.create`", complete),
    "streams": ("`completions.create(stream=True)`", stream),
}
