"""Instructor: a chat whose answer is a tool's arguments."""

NAME = "instructor (Python)"
ENVIRONMENT = "litellm"
PACKAGE = "instructor"
BESIDE = ["openai"]
SET_UP = "instructor.from_openai(OpenAI(base_url='https://postern/v1', api_key=key))"


def call_tool(gateway, prompt):
    import instructor
    from openai import OpenAI
    from pydantic import create_model

    client = instructor.from_openai(OpenAI(base_url=f"{gateway['url']}/v1", api_key=gateway["key"], max_retries=0))
    found = client.chat.completions.create(
        model=gateway["model"],
        messages=[{"role": "user", "content": prompt}],
        response_model=create_model("look_up", text=(str, ...)),
        max_retries=0,
    )
    return {"name": "look_up", "text": found.text}


WAYS = {"tools": ("`create(response_model=)`", call_tool)}
