"""LiteLLM as a client."""

NAME = "litellm (Python)"
ENVIRONMENT = "litellm"
PACKAGE = "litellm"
SET_UP = "litellm.embedding(model=f'openai/{m}', api_base='https://postern/v1', api_key=key)"
REMARK = "for `rerank`, use `cohere/{m}` and `api_base='https://postern'`; for completions, `text-completion-openai/{m}`"


def lite():
    import litellm

    litellm.telemetry = False
    litellm.num_retries = 0
    return litellm


def at_openai(gateway, provider="openai"):
    return {
        "model": f"{provider}/{gateway['model']}",
        "api_base": f"{gateway['url']}/v1",
        "api_key": gateway["key"],
        "max_retries": 0,
    }


def embed(gateway, texts):
    answer = lite().embedding(input=texts, **at_openai(gateway))
    return [item["embedding"] for item in answer.data]


def rerank(gateway, query, documents, topN):
    answer = lite().rerank(
        model=f"cohere/{gateway['model']}",
        api_base=gateway["url"],
        api_key=gateway["key"],
        query=query,
        documents=documents,
        top_n=topN,
    )
    return [{"index": one["index"], "score": one["relevance_score"]} for one in answer.results]


def complete(gateway, prompt):
    return lite().text_completion(prompt=prompt, **at_openai(gateway, "text-completion-openai")).choices[0].text


def stream(gateway, prompt):
    events = lite().text_completion(prompt=prompt, stream=True, **at_openai(gateway, "text-completion-openai"))
    return [event.choices[0].text or "" for event in events]


def talk(gateway, prompt, **more):
    return lite().completion(messages=[{"role": "user", "content": prompt}], **at_openai(gateway), **more)


def chat(gateway, prompt):
    return talk(gateway, prompt).choices[0].message.content


def chat_stream(gateway, prompt):
    return [event.choices[0].delta.content or "" for event in talk(gateway, prompt, stream=True)]


def message(gateway, prompt):
    answer = lite().completion(
        model=f"anthropic/{gateway['model']}",
        api_base=gateway["url"],
        api_key=gateway["key"],
        max_tokens=99,
        messages=[{"role": "user", "content": prompt}],
    )
    return answer.choices[0].message.content


def draw(gateway, prompt):
    return lite().image_generation(prompt=prompt, **at_openai(gateway)).data[0]["b64_json"]


WAYS = {
    "embeddings": ("`embedding`", embed),
    "rerank": ("`rerank`", rerank),
    "completions": ("`text_completion`", complete),
    "streams": ("`text_completion(stream=True)`", stream),
    "chat": ("`completion`", chat),
    "chatStreams": ("`completion(stream=True)`", chat_stream),
    "messages": ("`completion` with `anthropic/{m}`", message),
    "images": ("`image_generation`", draw),
}
