"""LangChain with OpenAI's models."""

NAME = "langchain-openai (Python)"
ENVIRONMENT = "now"
PACKAGE = "langchain-openai"
BESIDE = ["langchain-core"]
SET_UP = "OpenAIEmbeddings(model=m, base_url='https://postern/v1', api_key=key, check_embedding_ctx_length=False)"
REMARK = "sends token IDs of cl100k by default; to send text, set `check_embedding_ctx_length=False`"


def embed(gateway, texts):
    from langchain_openai import OpenAIEmbeddings

    client = OpenAIEmbeddings(
        model=gateway["model"],
        base_url=f"{gateway['url']}/v1",
        api_key=gateway["key"],
        check_embedding_ctx_length=False,
        max_retries=0,
    )
    return client.embed_documents(texts)


def model(gateway):
    from langchain_openai import OpenAI

    return OpenAI(model=gateway["model"], base_url=f"{gateway['url']}/v1", api_key=gateway["key"], max_retries=0)


def complete(gateway, prompt):
    return model(gateway).invoke(prompt)


def stream(gateway, prompt):
    return list(model(gateway).stream(prompt))


def talker(gateway):
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model=gateway["model"], base_url=f"{gateway['url']}/v1", api_key=gateway["key"], max_retries=0)


def chat(gateway, prompt):
    return talker(gateway).invoke(prompt).text


def chat_stream(gateway, prompt):
    return [part.text for part in talker(gateway).stream(prompt)]


def look_up(text: str) -> str:
    """Looks a text up."""
    return text


def call_tool(gateway, prompt):
    [call] = talker(gateway).bind_tools([look_up]).invoke(prompt).tool_calls
    return {"name": call["name"], "text": call["args"]["text"]}


WAYS = {
    "embeddings": ("`OpenAIEmbeddings`", embed),
    "completions": ("`OpenAI.invoke`", complete),
    "streams": ("`OpenAI.stream`", stream),
    "chat": ("`ChatOpenAI.invoke`", chat),
    "chatStreams": ("`ChatOpenAI.stream`", chat_stream),
    "tools": ("`ChatOpenAI.bind_tools`", call_tool),
}
