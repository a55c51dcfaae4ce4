"""DSPy: models and embedders as of OpenAI."""

NAME = "dspy (Python)"
ENVIRONMENT = "litellm"
PACKAGE = "dspy"
SET_UP = "dspy.LM(f'openai/{m}', api_base='https://postern/v1', api_key=key)"


def place(gateway):
    return {"api_base": f"{gateway['url']}/v1", "api_key": gateway["key"], "num_retries": 0}


def embed(gateway, texts):
    import dspy

    embedder = dspy.Embedder(f"openai/{gateway['model']}", caching=False, **place(gateway))
    return [[float(number) for number in vector] for vector in embedder(texts)]


def chat(gateway, prompt):
    import dspy

    return dspy.LM(f"openai/{gateway['model']}", cache=False, **place(gateway))(prompt)[0]


WAYS = {"embeddings": ("`Embedder`", embed), "chat": ("`LM`", chat)}
