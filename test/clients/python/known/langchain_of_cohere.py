"""LangChain with Cohere's ranker."""

NAME = "langchain-cohere (Python)"
ENVIRONMENT = "now"
PACKAGE = "langchain-cohere"
BESIDE = ["langchain-core"]
SET_UP = "CohereRerank(model=m, cohere_api_key=key, base_url='https://postern')"


def rerank(gateway, query, documents, topN):
    from langchain_cohere import CohereRerank

    client = CohereRerank(model=gateway["model"], cohere_api_key=gateway["key"], base_url=gateway["url"], top_n=topN)
    found = client.rerank(documents, query, top_n=topN)
    return [{"index": one["index"], "score": one["relevance_score"]} for one in found]


def embed(gateway, texts):
    from langchain_cohere import CohereEmbeddings

    client = CohereEmbeddings(model=gateway["model"], cohere_api_key=gateway["key"], base_url=gateway["url"])
    return client.embed_documents(texts)


WAYS = {
    "rerank": ("`CohereRerank.rerank`", rerank),
    "embeddings": ("`CohereEmbeddings.embed_documents`", embed),
}
