"""LangChain with Voyage's ranker."""

NAME = "langchain-voyageai (Python)"
ENVIRONMENT = "now"
PACKAGE = "langchain-voyageai"
BESIDE = ["langchain-core"]
SET_UP = "VoyageAIRerank(model=m, api_key=key, base_url='https://postern/voyage/v1')"
REMARK = "its embeddings first download a tokenizer, and are not tested"


def rerank(gateway, query, documents, topN):
    from langchain_core.documents import Document
    from langchain_voyageai import VoyageAIRerank

    client = VoyageAIRerank(
        model=gateway["model"], api_key=gateway["key"], base_url=f"{gateway['url']}/voyage/v1", top_k=topN
    )
    found = client.compress_documents([Document(page_content=text) for text in documents], query)
    return [{"index": documents.index(one.page_content), "score": one.metadata["relevance_score"]} for one in found]


WAYS = {"rerank": ("`VoyageAIRerank`", rerank)}
