"""Who annotates: the annotators of a project file, made ready with their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchprism.cli.environment import environment
from benchprism.project import AnnotatorSettings, Project
from benchprism.records.errors import InputError, suggestion

if TYPE_CHECKING:
    from benchprism.annotate.asking.annotator import Annotator
    from benchprism.annotate.keyless.local_server import LocalServer
    from benchprism.annotate.money.prices import Rate
    from benchprism.annotate.replay import ReplayServer
    from benchprism.annotate.traffic.endpoint import EndpointSettings
    from benchprism.prompts.templates import Wording


def project_annotators(
    project: Project, names: Sequence[str], concurrency: int | None, *, keyless: bool = False
) -> list[Annotator]:
    """Make the project's annotators ready, each of their passes; all when none is named.

    Args:
        project: The project.
        names: Their names in the project file.
        concurrency: Requests in flight at once, in place of what the project file says.
        keyless: Whether they ask nothing, and so need no key.

    Raises:
        InputError: there is none, a named one is unknown, or one has no key.
    """
    from benchprism.annotate.asking.annotator import Annotator
    from benchprism.annotate.asking.plan import Asking
    from benchprism.annotate.ledger.panel import passes
    from benchprism.annotate.traffic.patience import Patience

    known = project.settings.annotators
    if not known:
        raise InputError(
            "the project has no annotator",
            wanted="one under 'annotators' in benchprism.yaml",
            mend="add 'annotators: {main: {model: MODEL}}', or pass --replay FILE",
        )
    variables, rates = environment(project.root), project_rates(project)
    return [
        Annotator(
            name=pass_,
            endpoint=_endpoint(name, settings, variables, keyless=keyless),
            concurrency=concurrency or settings.concurrency,
            max_prompt_characters=settings.max_prompt_characters,
            patience=Patience(outage=settings.patience),
            asking=Asking(settings.ask, settings.items_per_call),
            wording=_wording(project, settings),
            price=project.settings.prices.get(settings.model),
            rates=rates,
            vllm=settings.vllm,
        )
        for name in _chosen(names, known)
        for settings in [known[name]]
        for pass_ in passes(f"llm:{name}", settings.repeats)
    ]


def project_rates(project: Project) -> dict[str, Rate]:
    """What a budget counts for replies that came before their model had a price, by model."""
    from benchprism.annotate.money.prices import Rate

    annotators = project.settings.annotators.values()
    return {
        model: Rate(
            price,
            max((a.max_prompt_characters for a in annotators if a.model == model), default=0),
            max((2 * a.max_output_tokens for a in annotators if a.model == model), default=0),
        )
        for model, price in project.settings.prices.items()
    }


def replay_annotators(
    server: ReplayServer, names: Sequence[str], concurrency: int | None
) -> list[Annotator]:
    """Make one annotator of each recorded reader; an item without a recording ends no run."""
    from benchprism.annotate.asking.annotator import Annotator
    from benchprism.annotate.traffic.endpoint import EndpointSettings
    from benchprism.annotate.traffic.patience import Patience

    return [
        Annotator(
            name=f"llm:{model}",
            endpoint=EndpointSettings(model, server.base_url),
            concurrency=concurrency or AnnotatorSettings(model=model).concurrency,
            patience=Patience(errors=None),
        )
        for model in _chosen(names, server.models)
    ]


def served_annotator(server: LocalServer, concurrency: int) -> Annotator:
    """Make the annotator of a model that is served on this machine."""
    from benchprism.annotate.asking.annotator import Annotator
    from benchprism.annotate.traffic.endpoint import EndpointSettings

    return Annotator(
        name=f"llm:{server.model}",
        endpoint=EndpointSettings(server.model, server.base_url),
        concurrency=concurrency,
    )


def _chosen(names: Sequence[str], known: Mapping[str, object] | Sequence[str]) -> list[str]:
    for name in names:
        if name not in known:
            raise InputError(
                f"no annotator is called {name!r}",
                wanted="one that is declared",
                mend=suggestion(name, known),
            )
    return list(names or known)


def _wording(project: Project, settings: AnnotatorSettings) -> Wording:
    from benchprism.prompts.templates import load_wording

    folder = None if settings.prompt is None else project.root / settings.prompt
    return load_wording(folder, may_abstain=settings.may_abstain)


def _endpoint(
    name: str, settings: AnnotatorSettings, environment: Mapping[str, str], *, keyless: bool
) -> EndpointSettings:
    from benchprism.annotate.traffic.endpoint import EndpointSettings

    base_url = settings.base_url or environment.get("OPENAI_BASE_URL") or None
    key = environment.get(settings.api_key_env, "").strip()
    keyless = keyless or settings.vllm is not None
    if not key and base_url is None and not keyless:
        raise InputError(
            f"no {settings.api_key_env} in the environment or in .env",
            wanted=f"a key for the annotator {name!r}",
            mend=f"set {settings.api_key_env}, or give the annotator a base_url of your own server",
        )
    return EndpointSettings(
        model=settings.model,
        base_url=base_url,
        api_key=key or "none",
        temperature=settings.temperature,
        seed=settings.seed,
        rung=settings.rung,
        logprobs=settings.logprobs,
        max_output_tokens=settings.max_output_tokens,
        timeout=settings.timeout,
    )
