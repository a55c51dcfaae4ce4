"""OpenAI's own client."""

import json

NAME = "openai (Python)"
ENVIRONMENT = "newest"
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


def talk(gateway, prompt, **more):
    messages = [{"role": "user", "content": prompt}]
    return connect(gateway).chat.completions.create(model=gateway["model"], messages=messages, **more)


def chat(gateway, prompt):
    return talk(gateway, prompt).choices[0].message.content


def chat_stream(gateway, prompt):
    events = talk(gateway, prompt, stream=True, stream_options={"include_usage": True})
    return [event.choices[0].delta.content or "" for event in events if event.choices]


def call_tool(gateway, prompt):
    parameters = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    tool = {"type": "function", "function": {"name": "look_up", "parameters": parameters}}
    call = talk(gateway, prompt, tools=[tool]).choices[0].message.tool_calls[0].function
    return {"name": call.name, "text": json.loads(call.arguments)["text"]}


def respond(gateway, prompt):
    return connect(gateway).responses.create(model=gateway["model"], input=prompt, store=False).output_text


def respond_stream(gateway, prompt):
    # One that nobody holds any longer closes its streams.
    client = connect(gateway)
    events = client.responses.create(model=gateway["model"], input=prompt, store=False, stream=True)
    return [event.delta for event in events if event.type == "response.output_text.delta"]


def draw(gateway, prompt):
    return connect(gateway).images.generate(model=gateway["model"], prompt=prompt).data[0].b64_json


def speak(gateway, prompt):
    return connect(gateway).audio.speech.create(model=gateway["model"], input=prompt, voice="alloy").content.decode()


def transcribe(gateway, prompt):
    file = ("a.mp3", prompt.encode())
    return connect(gateway).audio.transcriptions.create(model=gateway["model"], file=file).text


def list_models(gateway):
    client = connect(gateway)
    return [client.models.retrieve(one.id).id for one in client.models.list()]


LISTS = list_models
WAYS = {
    "embeddings": ("`embeddings.create`", embed),
    "moderations": ("`moderations.create`", moderate),
    "completions": ("`completions.create`", complete),
    "streams": ("`completions.create(stream=True)`", stream),
    "chat": ("`chat.completions.create`", chat),
    "chatStreams": ("`chat.completions.create(stream=True)`", chat_stream),
    "tools": ("`chat.completions.create(tools=)`", call_tool),
    "responses": ("`responses.create`", respond),
    "responseStreams": ("`responses.create(stream=True)`", respond_stream),
    "images": ("`images.generate`", draw),
    "speech": ("`audio.speech.create`", speak),
    "transcriptions": ("`audio.transcriptions.create`", transcribe),
}
