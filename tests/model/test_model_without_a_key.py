"""The lines of docs/language-models.md for people without a key, run as they stand."""

import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import httpx
from calls import answer, chat
from commands import Server
from real_model import installed

PAGE = Path(__file__).parents[2] / "docs/language-models.md"
SECONDS = 300.0


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def test_the_three_lines_give_an_assistant_that_answers(tmp_path: Path) -> None:
    (lines,) = [
        block.splitlines()
        for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
        if "real_model.py" in block
    ]
    install, serve_model, serve = (shlex.split(line) for line in lines)
    assert install[-2:] == ["--group", "testmodel"]
    assert installed()
    port = str(_free_port())
    command = [sys.executable, PAGE.parents[1] / serve_model[1], port]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as model:
        assert model.stdout is not None
        assert port.encode() in model.stdout.readline()
        settings = dict(one.split("=") for one in serve if "=" in one)
        settings = {name: value.replace("8081", port) for name, value in settings.items()}
        server = Server(tmp_path / "data")
        server.start(**settings)
        try:
            with httpx.Client(base_url=server.url, timeout=SECONDS) as http:
                assert answer(chat(http, "ann", "Hello.", max_tokens=10)).strip()
        finally:
            server.end()
            assert model.stdin is not None
            model.stdin.close()
