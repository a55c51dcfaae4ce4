"""LlamaIndex: embeddings as of OpenAI, rankers as of Cohere."""

NAME = "llama-index (Python)"
ENVIRONMENT = "now"
PACKAGE = "llama-index-core"
BESIDE = [
    "llama-index-embeddings-openai-like",
    "llama-index-llms-openai-like",
    "llama-index-postprocessor-cohere-rerank",
]
SET_UP = "OpenAILikeEmbedding(model_name=m, api_base='https://postern/v1', api_key=key)"
REMARK = "`CohereRerank` needs `base_url='https://postern'`"


def embed(gateway, texts):
    from llama_index.embeddings.openai_like import OpenAILikeEmbedding

    client = OpenAILikeEmbedding(
        model_name=gateway["model"],
        api_base=f"{gateway['url']}/v1",
        api_key=gateway["key"],
        embed_batch_size=1000,
        max_retries=0,
    )
    return client.get_text_embedding_batch(texts)


def rerank(gateway, query, documents, topN):
    from llama_index.postprocessor.cohere_rerank import CohereRerank

    client = CohereRerank(model=gateway["model"], api_key=gateway["key"], base_url=gateway["url"], top_n=topN)
    return ranked(client, query, documents)


def ranked(client, query, documents):
    from llama_index.core.schema import NodeWithScore, TextNode

    nodes = [NodeWithScore(node=TextNode(text=text), score=0.0) for text in documents]
    found = client.postprocess_nodes(nodes, query_str=query)
    return [{"index": documents.index(one.node.get_content()), "score": one.score} for one in found]


def talker(gateway):
    from llama_index.llms.openai_like import OpenAILike

    at = {"api_base": f"{gateway['url']}/v1", "api_key": gateway["key"], "max_retries": 0}
    return OpenAILike(model=gateway["model"], is_chat_model=True, **at)


def chat(gateway, prompt):
    return talker(gateway).complete(prompt).text


def chat_stream(gateway, prompt):
    return [part.delta for part in talker(gateway).stream_complete(prompt)]


WAYS = {
    "embeddings": ("`OpenAILikeEmbedding`", embed),
    "rerank": ("`CohereRerank`", rerank),
    "chat": ("`OpenAILike.complete`", chat),
    "chatStreams": ("`OpenAILike.stream_complete`", chat_stream),
}
