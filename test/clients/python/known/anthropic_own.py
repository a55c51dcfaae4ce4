"""Anthropic's own client."""

NAME = "anthropic (Python)"
ENVIRONMENT = "newest"
PACKAGE = "anthropic"
SET_UP = "Anthropic(base_url='https://postern', api_key=key)"


def asked(gateway, prompt):
    return {"model": gateway["model"], "max_tokens": 99, "messages": [{"role": "user", "content": prompt}]}


def connect(gateway):
    from anthropic import Anthropic

    return Anthropic(base_url=gateway["url"], api_key=gateway["key"], max_retries=0)


def message(gateway, prompt):
    return connect(gateway).messages.create(**asked(gateway, prompt)).content[0].text


def stream(gateway, prompt):
    with connect(gateway).messages.stream(**asked(gateway, prompt)) as parts:
        return list(parts.text_stream)


WAYS = {"messages": ("`messages.create`", message), "messageStreams": ("`messages.stream`", stream)}
