"""The compose file for a team's server; Docker itself is not needed."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

DEPLOY = Path(__file__).parents[3] / "deploy"
COMPOSE = (DEPLOY / "docker-compose.yaml").read_text(encoding="utf-8")
SERVICES = yaml.safe_load(COMPOSE)["services"]


def test_every_image_is_pinned_to_a_release() -> None:
    images = {service["image"] for service in SERVICES.values()}
    assert len(images) == 4
    assert all(re.fullmatch(r"[a-z/-]+:v?\d+\.\d+(\.\d+)?", image) for image in images)


def test_server_and_worker_have_the_same_settings() -> None:
    server, worker = SERVICES["argilla"]["environment"], SERVICES["worker"]["environment"]
    assert worker.items() <= server.items()
    assert SERVICES["worker"]["image"] == SERVICES["argilla"]["image"]


def test_every_secret_comes_from_the_environment_and_the_example_names_it() -> None:
    wanted = {*re.findall(r"\$\{([A-Z_]+):\?", COMPOSE)}
    optional = {*re.findall(r"\$\{([A-Z_]+):-", COMPOSE)}
    example = (DEPLOY / ".env.example").read_text(encoding="utf-8")
    assert {*re.findall(r"^([A-Z_]+)=$", example, re.MULTILINE)} == wanted
    assert {*re.findall(r"^# ([A-Z_]+)=", example, re.MULTILINE)} == optional
    for service in SERVICES.values():
        for name, value in service["environment"].items():
            if re.search("PASSWORD|SECRET|API_KEY", name):
                assert value.startswith("${")


def test_only_argilla_is_published_and_only_on_this_machine_unless_told_otherwise() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published == {"argilla": ["${ADDRESS:-127.0.0.1}:${PORT:-6900}:6900"]}
