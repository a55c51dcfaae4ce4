"""LlamaIndex with Jina's ranker."""

from known.llama_index import ranked

NAME = "llama-index with Jina (Python)"
ENVIRONMENT = "now"
PACKAGE = "llama-index-postprocessor-jinaai-rerank"
BESIDE = ["llama-index-core"]
SET_UP = "JinaRerank(model=m, api_key=key, base_url='https://postern/jina/v1')"


def rerank(gateway, query, documents, topN):
    from llama_index.postprocessor.jinaai_rerank import JinaRerank

    client = JinaRerank(
        model=gateway["model"], api_key=gateway["key"], base_url=f"{gateway['url']}/jina/v1", top_n=topN
    )
    return ranked(client, query, documents)


WAYS = {"rerank": ("`JinaRerank`", rerank)}
