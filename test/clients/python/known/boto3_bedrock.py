"""AWS's own SDK, which sends bytes: here those of Nova's models, one text a call."""

import json
import tempfile

NAME = "boto3 (Python)"
ENVIRONMENT = "now"
PACKAGE = "boto3"
BESIDE = ["botocore"]
SET_UP = "boto3.client('bedrock-runtime', region_name=region, endpoint_url='https://postern/bedrock')"
REMARK = "reads the key from the variable `AWS_BEARER_TOKEN_BEDROCK`, and sends it only over HTTPS"


def invoke(gateway, bodies):
    import os

    import boto3
    from botocore.config import Config

    os.environ["AWS_BEARER_TOKEN_BEDROCK"] = gateway["key"]
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as trusted:
        trusted.write(gateway["secure"]["certificate"])
        trusted.flush()
        client = boto3.client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=f"{gateway['secure']['url']}/bedrock",
            verify=trusted.name,
            config=Config(retries={"total_max_attempts": 1}),
        )
        for body in bodies:
            answer = client.invoke_model(modelId=gateway["model"], body=json.dumps(body))
            yield json.loads(answer["body"].read())


def embed(gateway, texts):
    bodies = (
        {
            "taskType": "SINGLE_EMBEDDING",
            "singleEmbeddingParams": {"embeddingPurpose": "GENERIC_INDEX", "text": {"truncationMode": "END", "value": text}},
        }
        for text in texts
    )
    return [answer["embeddings"][0]["embedding"] for answer in invoke(gateway, bodies)]


def rerank(gateway, query, documents, topN):
    [answer] = invoke(gateway, [{"query": query, "documents": documents, "top_n": topN}])
    return [{"index": one["index"], "score": one["relevance_score"]} for one in answer["results"]]


WAYS = {
    "embeddings": ("`invoke_model` with `singleEmbeddingParams`", embed),
    "rerank": ("`invoke_model` with `query`", rerank),
}
