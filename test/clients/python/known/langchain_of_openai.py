"""LangChain with OpenAI's models."""

NAME = "langchain-openai (Python)"
ENVIRONMENT = "now"
PACKAGE = "langchain-openai"
BESIDE = ["langchain-core"]
SET_UP = "OpenAIEmbeddings(model=m, base_url='https://postern/v1', api_key=key, check_embedding_ctx_length=False)"
REMARK = "by itself it sends token IDs of cl100k: text with `check_embedding_ctx_length=False`"


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


WAYS = {
    "embeddings": ("`OpenAIEmbeddings`", embed),
    "completions": ("`OpenAI.invoke`", complete),
    "streams": ("`OpenAI.stream`", stream),
}
