"""OpenAI's client before 1.0, which knows engines and edits."""

NAME = "openai 0.28 (Python)"
ENVIRONMENT = "then"
PACKAGE = "openai"
SET_UP = "openai.api_base = 'https://postern/v1'; openai.api_key = key"
REMARK = "`Moderation.create` accepts only two models of OpenAI. `engine=` calls `/v1/engines/{model}/...`; `model=` calls the usual paths"


def connected(gateway):
    import openai

    openai.api_base, openai.api_key = f"{gateway['url']}/v1", gateway["key"]
    return openai


def embed(gateway, texts):
    answer = connected(gateway).Embedding.create(model=gateway["model"], input=texts)
    return [item["embedding"] for item in answer["data"]]


def embed_by_engine(gateway, texts):
    answer = connected(gateway).Embedding.create(engine=gateway["model"], input=texts)
    return [item["embedding"] for item in answer["data"]]


def complete(gateway, prompt):
    return connected(gateway).Completion.create(model=gateway["model"], prompt=prompt)["choices"][0]["text"]


def stream(gateway, prompt):
    events = connected(gateway).Completion.create(model=gateway["model"], prompt=prompt, stream=True)
    return [event["choices"][0]["text"] for event in events if event["choices"]]


def edit(gateway, input, instruction):
    answer = connected(gateway).Edit.create(model=gateway["model"], input=input, instruction=instruction)
    return answer["choices"][0]["text"]


def list_models(gateway):
    openai = connected(gateway)
    return [openai.Model.retrieve(one["id"])["id"] for one in openai.Model.list()["data"]]


LISTS = list_models
WAYS = {
    "embeddings": ("`Embedding.create(model=)`", embed),
    "engines": ("`Embedding.create(engine=)`", embed_by_engine),
    "completions": ("`Completion.create`", complete),
    "streams": ("`Completion.create(stream=True)`", stream),
    "edits": ("`Edit.create`", edit),
}
