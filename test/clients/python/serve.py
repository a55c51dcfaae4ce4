"""Says which Python clients there are, then makes their calls: a line of JSON in, a line of JSON out."""

import contextlib
import importlib
import json
import pathlib
import sys
from importlib.metadata import version


def known(environment):
    """The modules of `known/` that belong to an environment, by the name of their client."""
    folder = pathlib.Path(__file__).parent / "known"
    modules = (importlib.import_module(f"known.{path.stem}") for path in sorted(folder.glob("[a-z]*.py")))
    return {module.NAME: module for module in modules if module.ENVIRONMENT == environment}


def described(module):
    packages = [module.PACKAGE, *getattr(module, "BESIDE", [])]
    return {
        "name": module.NAME,
        "versions": {package: version(package) for package in packages},
        "setUp": module.SET_UP,
        "remark": getattr(module, "REMARK", None),
        "wants": getattr(module, "WANTS", {}),
        "lists": hasattr(module, "LISTS"),
        "ways": {task: call for task, (call, _) in module.WAYS.items()},
    }


def answer(module, line):
    task = line["task"]
    run = module.LISTS if task == "models" else module.WAYS[task][1]
    try:
        return {"result": run(line["gateway"], **line["arguments"])}
    except Exception as error:  # noqa: BLE001 - whatever a client throws is what is to be told
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    modules = known(sys.argv[1])
    out = sys.stdout
    # Some clients print; nobody else may write between the lines.
    with contextlib.redirect_stdout(sys.stderr):
        print(json.dumps([described(module) for module in modules.values()]), file=out, flush=True)
        for text in sys.stdin:
            line = json.loads(text)
            print(json.dumps({"id": line["id"], **answer(modules[line["client"]], line)}), file=out, flush=True)


main()
