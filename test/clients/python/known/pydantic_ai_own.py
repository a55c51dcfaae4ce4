"""Pydantic AI, at OpenAI's paths."""

NAME = "pydantic-ai (Python)"
ENVIRONMENT = "newest"
PACKAGE = "pydantic-ai-slim"
BESIDE = ["openai"]
SET_UP = "OpenAIProvider(base_url='https://postern/v1', api_key=key)"


def provider(gateway):
    from openai import AsyncOpenAI
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(base_url=f"{gateway['url']}/v1", api_key=gateway["key"], max_retries=0)
    return OpenAIProvider(openai_client=client)


def embed(gateway, texts):
    from pydantic_ai import Embedder
    from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel

    model = OpenAIEmbeddingModel(gateway["model"], provider=provider(gateway))
    return [list(vector) for vector in Embedder(model).embed_documents_sync(texts).embeddings]


def agent(gateway):
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel

    return Agent(OpenAIChatModel(gateway["model"], provider=provider(gateway)), retries=0)


def chat(gateway, prompt):
    return agent(gateway).run_sync(prompt).output


def chat_stream(gateway, prompt):
    import asyncio

    async def read():
        async with agent(gateway).run_stream(prompt) as events:
            return [text async for text in events.stream_text(delta=True, debounce_by=None)]

    return asyncio.run(read())


def respond(gateway, prompt):
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings

    settings = OpenAIResponsesModelSettings(openai_store=False)
    model = OpenAIResponsesModel(gateway["model"], provider=provider(gateway), settings=settings)
    return Agent(model, retries=0).run_sync(prompt).output


WAYS = {
    "embeddings": ("`Embedder.embed_documents_sync`", embed),
    "chat": ("`Agent.run_sync`", chat),
    "chatStreams": ("`Agent.run_stream`", chat_stream),
    "responses": ("`Agent.run_sync` with `OpenAIResponsesModel`", respond),
}
