"""Hugging Face's client, pointed at an endpoint of one's own."""

NAME = "huggingface-hub (Python)"
ENVIRONMENT = "newest"
PACKAGE = "huggingface-hub"
SET_UP = "InferenceClient(base_url='https://postern/hf/models/{model}', api_key=key)"
REMARK = "for chat, use `https://postern/v1`"


def embed(gateway, texts):
    from huggingface_hub import InferenceClient

    client = InferenceClient(base_url=f"{gateway['url']}/hf/models/{gateway['model']}", api_key=gateway["key"])
    return client.feature_extraction(texts).tolist()


def connect(gateway):
    from huggingface_hub import InferenceClient

    return InferenceClient(base_url=f"{gateway['url']}/v1", api_key=gateway["key"])


def asked(gateway, prompt):
    return {"model": gateway["model"], "messages": [{"role": "user", "content": prompt}], "max_tokens": 99}


def chat(gateway, prompt):
    return connect(gateway).chat.completions.create(**asked(gateway, prompt)).choices[0].message.content


def chat_stream(gateway, prompt):
    # One that nobody holds any longer closes its streams.
    client = connect(gateway)
    events = client.chat.completions.create(**asked(gateway, prompt), stream=True)
    return [event.choices[0].delta.content or "" for event in events if event.choices]


WAYS = {
    "embeddings": ("`feature_extraction`", embed),
    "chat": ("`chat.completions.create`", chat),
    "chatStreams": ("`chat.completions.create(stream=True)`", chat_stream),
}
