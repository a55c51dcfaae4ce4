"""Ollama's own client."""

NAME = "ollama (Python)"
ENVIRONMENT = "now"
PACKAGE = "ollama"
SET_UP = "Client(host='https://postern', headers={'authorization': f'Bearer {key}'})"


def connect(gateway):
    from ollama import Client

    return Client(host=gateway["url"], headers={"authorization": f"Bearer {gateway['key']}"})


def embed(gateway, texts):
    return [list(vector) for vector in connect(gateway).embed(model=gateway["model"], input=texts).embeddings]


def complete(gateway, prompt):
    return connect(gateway).generate(model=gateway["model"], prompt=prompt).response


def stream(gateway, prompt):
    return [part.response for part in connect(gateway).generate(model=gateway["model"], prompt=prompt, stream=True)]


def chat(gateway, prompt):
    messages = [{"role": "user", "content": prompt}]
    return connect(gateway).chat(model=gateway["model"], messages=messages).message.content


def chat_stream(gateway, prompt):
    messages = [{"role": "user", "content": prompt}]
    parts = connect(gateway).chat(model=gateway["model"], messages=messages, stream=True)
    return [part.message.content for part in parts]


WAYS = {
    "embeddings": ("`embed`", embed),
    "completions": ("`generate`", complete),
    "streams": ("`generate(stream=True)`", stream),
    "chat": ("`chat`", chat),
    "chatStreams": ("`chat(stream=True)`", chat_stream),
}
