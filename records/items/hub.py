"""Hugging Face datasets as sources, pinned to a commit; read from the cache without a network."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import InputError
from .source import Row, Source

if TYPE_CHECKING:
    from huggingface_hub import DatasetInfo

_MEDIA = {"Audio", "Image", "Nifti", "Pdf", "Video"}


def read_hub(
    dataset: str,
    configs: Sequence[str | None] = (None,),
    *,
    split: str | None = None,
    revision: str | None = None,
) -> list[Source]:
    """Read one split of a Hub dataset through ``datasets``.

    Args:
        dataset: the repository, ``owner/name``.
        configs: the configurations to read; of several, each names the subset of its rows.
        split: the split to read; may be left out when there is one only.
        revision: a branch, tag or commit; the default branch when none is given.

    Returns:
        One source a configuration, with the commit as its revision. Images and other media are
        left out.

    Raises:
        InputError: the dataset is gated, private or not there, lacks the configuration or the
            split, or is neither reachable nor in the cache.
    """
    found = _resolve(dataset, revision)
    commit = found.sha if found is not None else None
    _quieten()
    if commit is not None:
        _check_configs(dataset, configs, commit)
    sources = []
    for config in configs:
        source = _load(dataset, config, split, commit)
        if commit is None and revision not in {None, "main", source.revision}:
            raise _other_revision(dataset, revision or "", source.revision)
        subset = (config or "") if len(configs) > 1 else ""
        gated = found is not None and bool(found.gated)
        sources.append(replace(source, subset=subset, gated=gated))
    return sources


def _quieten() -> None:
    import datasets

    datasets.logging.set_verbosity_error()
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()


def _resolve(dataset: str, revision: str | None) -> DatasetInfo | None:
    """Find a revision; none, and offline mode, when the Hub cannot be reached."""
    import httpx2
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

    try:
        return HfApi().dataset_info(dataset, revision=revision, timeout=30)
    except (OfflineModeIsEnabled, httpx2.TransportError):
        # Both libraries read the switch when they are imported; `datasets` retries for 23 seconds
        # before it looks into its cache unless it is told.
        constants.HF_HUB_OFFLINE = True
        if "datasets" in sys.modules:
            sys.modules["datasets"].config.HF_HUB_OFFLINE = True
        return None
    except HFValidationError as error:
        raise InputError(
            f"the dataset {dataset!r} is not a repository's name",
            wanted="OWNER/NAME as the Hub has it",
            mend="mend --dataset",
        ) from error
    except HfHubHTTPError as error:
        raise _refused(dataset, revision, error) from error


def _refused(dataset: str, revision: str | None, error: Exception) -> InputError:
    """Say which of the Hub's refusals an error is."""
    from huggingface_hub.errors import (
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    if isinstance(error, GatedRepoError):
        return InputError(
            f"the dataset {dataset!r} is gated",
            wanted="an account that was granted access",
            mend=f"accept its terms on https://huggingface.co/datasets/{dataset} and set HF_TOKEN",
        )
    if isinstance(error, RevisionNotFoundError):
        return InputError(
            f"the dataset {dataset!r} has no revision {revision!r}",
            wanted="a branch, a tag or a commit of the dataset",
            mend="change --revision, or leave it out for the newest",
        )
    if isinstance(error, RepositoryNotFoundError):
        return InputError(
            f"the dataset {dataset!r} does not exist, or is private",
            wanted="a dataset that can be read",
            mend="check its name; if it is private, set HF_TOKEN to a token that may read it",
        )
    return _unreadable(dataset, error)


def _unreadable(dataset: str, error: Exception) -> InputError:
    lines = str(error).strip().splitlines()
    reason = lines[0].rstrip(".") if lines else type(error).__name__
    return InputError(
        f"the dataset {dataset!r} cannot be read ({reason})",
        wanted="a dataset of plain data files",
        mend="try again later, or download a copy and read it with --from FILE",
    )


def _load(dataset: str, config: str | None, split: str | None, commit: str | None) -> Source:
    import datasets

    try:
        address = f"hf://datasets/{dataset}"  # a folder of that name may be in the way
        builder = datasets.load_dataset_builder(address, config, revision=commit)
        builder.download_and_prepare()
        splits = builder.as_dataset()
    except Exception as error:
        raise _not_loaded(dataset, config, commit, error) from error
    split = split or (next(iter(splits)) if len(splits) == 1 else None)
    if split not in splits:
        raise InputError(
            f"the dataset {dataset!r} has "
            + (f"no split {split!r}" if split else "several splits"),
            wanted=f"one of {', '.join(splits)}",
            mend="choose one with --split",
        )
    data = splits[split]
    media = [name for name, feature in data.features.items() if type(feature).__name__ in _MEDIA]
    rows = enumerate(data.remove_columns(media), start=1)
    name = f"{dataset} ({config})" if config else dataset
    found = [Row(f"row {number}", cells) for number, cells in rows]
    return Source(name, str(builder.hash), found, split=split)


def _check_configs(dataset: str, configs: Sequence[str | None], commit: str) -> None:
    import datasets

    try:
        names = datasets.get_dataset_config_names(f"hf://datasets/{dataset}", revision=commit)
    except Exception as error:
        raise _not_loaded(dataset, None, commit, error) from error
    for config in configs:
        if config in names or (config is None and (len(names) == 1 or "default" in names)):
            continue
        found = f"no configuration {config!r}" if config else "several configurations"
        raise InputError(
            f"the dataset {dataset!r} has {found}",
            wanted=f"one of {', '.join(names)}",
            mend="choose one with --config",
        )


def _refusal(dataset: str) -> Exception | None:
    """Ask whether the files are refused; what the Hub tells of a gated dataset is open to all."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        HfApi().auth_check(dataset, repo_type="dataset")
    except RepositoryNotFoundError as error:  # of which GatedRepoError is one
        return error
    except OSError:
        return None
    return None


def _not_loaded(
    dataset: str, config: str | None, commit: str | None, error: Exception
) -> InputError:
    if commit is not None:
        return _refused(dataset, commit, _refusal(dataset) or error)
    part = f" ({config})" if config else ""
    return InputError(
        f"the Hub cannot be reached, and {dataset!r}{part} is not in the cache",
        wanted="a network, or a dataset that was loaded before",
        mend="go online, unset HF_HUB_OFFLINE, or read a local copy with --from FILE",
    )


def _other_revision(dataset: str, revision: str, found: str) -> InputError:
    return InputError(
        f"the Hub cannot be reached, and the cache has {dataset!r} at {found}, not {revision!r}",
        wanted="the revision that was asked for",
        mend="go online, or leave out --revision to read the cached one",
    )
