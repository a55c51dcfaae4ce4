"""LangChain with Mistral's models."""

NAME = "langchain-mistralai (Python)"
ENVIRONMENT = "now"
PACKAGE = "langchain-mistralai"
BESIDE = ["langchain-core"]
SET_UP = "MistralAIEmbeddings(model=m, endpoint='https://postern/v1/', api_key=key)"
REMARK = "its embeddings first download a tokenizer; `tokenizer=` sets another"


def embed(gateway, texts):
    from langchain_mistralai import MistralAIEmbeddings
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel

    at = {"endpoint": f"{gateway['url']}/v1/", "api_key": gateway["key"], "max_retries": 0}
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    return MistralAIEmbeddings(model=gateway["model"], tokenizer=tokenizer, **at).embed_documents(texts)


def talker(gateway):
    from langchain_mistralai import ChatMistralAI

    at = {"endpoint": f"{gateway['url']}/v1", "api_key": gateway["key"], "max_retries": 0}
    return ChatMistralAI(model=gateway["model"], **at)


def chat(gateway, prompt):
    return talker(gateway).invoke(prompt).text


def chat_stream(gateway, prompt):
    return [part.text for part in talker(gateway).stream(prompt)]


def call_tool(gateway, prompt):
    from known.langchain_of_openai import look_up

    [call] = talker(gateway).bind_tools([look_up]).invoke(prompt).tool_calls
    return {"name": call["name"], "text": call["args"]["text"]}


WAYS = {
    "embeddings": ("`MistralAIEmbeddings`", embed),
    "chat": ("`ChatMistralAI.invoke`", chat),
    "chatStreams": ("`ChatMistralAI.stream`", chat_stream),
    "tools": ("`ChatMistralAI.bind_tools`", call_tool),
}
