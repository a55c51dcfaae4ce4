"""LangChain with Ollama's models."""

NAME = "langchain-ollama (Python)"
ENVIRONMENT = "now"
PACKAGE = "langchain-ollama"
BESIDE = ["langchain-core", "ollama"]
SET_UP = "OllamaEmbeddings(model=m, base_url='https://postern', client_kwargs={'headers': {'authorization': f'Bearer {key}'}})"


def options(gateway):
    headers = {"authorization": f"Bearer {gateway['key']}"}
    return {"model": gateway["model"], "base_url": gateway["url"], "client_kwargs": {"headers": headers}}


def embed(gateway, texts):
    from langchain_ollama import OllamaEmbeddings

    return OllamaEmbeddings(**options(gateway)).embed_documents(texts)


def chat(gateway, prompt):
    from langchain_ollama import ChatOllama

    return ChatOllama(**options(gateway)).invoke(prompt).text


WAYS = {"embeddings": ("`OllamaEmbeddings`", embed), "chat": ("`ChatOllama.invoke`", chat)}
