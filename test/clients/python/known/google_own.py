"""Google's own client."""

NAME = "google-genai (Python)"
ENVIRONMENT = "newest"
PACKAGE = "google-genai"
SET_UP = "genai.Client(api_key=key, http_options={'base_url': 'https://postern/gemini'})"


def connect(gateway):
    from google import genai

    return genai.Client(api_key=gateway["key"], http_options={"base_url": f"{gateway['url']}/gemini"})


# One that nobody holds any longer is closed, and its calls with it.
def embed(gateway, texts):
    client = connect(gateway)
    answer = client.models.embed_content(model=gateway["model"], contents=texts)
    return [one.values for one in answer.embeddings]


def generate(gateway, prompt):
    client = connect(gateway)
    return client.models.generate_content(model=gateway["model"], contents=prompt).text


def generate_stream(gateway, prompt):
    client = connect(gateway)
    return [part.text or "" for part in client.models.generate_content_stream(model=gateway["model"], contents=prompt)]


def list_models(gateway):
    client = connect(gateway)
    return [client.models.get(model=one.name).name.removeprefix("models/") for one in client.models.list()]


LISTS = list_models
WAYS = {
    "embeddings": ("`models.embed_content`", embed),
    "generate": ("`models.generate_content`", generate),
    "generateStreams": ("`models.generate_content_stream`", generate_stream),
}
