"""Whether the sources of an export permit to publish it."""

from __future__ import annotations

from ...records.errors import ConfirmationNeeded, InputError, enumerated
from .hub.refusals import hub_errors
from .hub.repository import Hub
from .subset import ExportedSubset


def require_free_use(export: ExportedSubset, *, accepted: bool) -> None:
    """Refuse to publish texts for non-commercial use only, unless that was accepted.

    Raises:
        ConfirmationNeeded: it was not.
    """
    bound = [s for s in export.sources if s.licence.redistribution == "non_commercial"]
    if bound and not export.ids_only and not accepted:
        names = enumerated([f"{s.benchmark!r} ({s.stated_licence})" for s in bound])
        raise ConfirmationNeeded(
            f"the licence of {names} forbids commercial use, and so will the card's",
            wanted="your word that this is accepted",
            mend="add --accept-non-commercial, or --ids-only to leave out all texts",
        )


def require_open_sources(hub: Hub, export: ExportedSubset) -> tuple[str, ...]:
    """Ask the Hub again whether sources are gated: terms may have come after the items were read.

    Returns:
        Notes on sources that are private, or that the Hub does not tell of.

    Raises:
        InputError: a source is gated, and texts would be passed on.
        EndpointError: the Hub cannot be reached.
    """
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    notes: list[str] = []
    absent: list[str] = []
    datasets = sorted({source.dataset for source in export.sources if source.dataset is not None})
    for dataset in datasets if not export.ids_only else ():
        with hub_errors(dataset):
            try:
                info = hub.api.dataset_info(dataset)
                gated = bool(info.gated)
                notes += [f"{dataset} is private on the Hub"] if info.private else []
            except GatedRepoError:
                gated = True
            except RepositoryNotFoundError:
                absent.append(dataset)
                continue
        if gated:
            raise InputError(
                f"the dataset {dataset!r} is gated on the Hub by now, and its terms may not permit"
                " passing its items on in a new set",
                wanted="sources that may be passed on",
                mend="add --ids-only to leave out all texts, or compose without it",
            )
    if absent:
        notes.append(
            f"the Hub does not tell whether terms bind {enumerated(absent)}: it has no such dataset"
        )
    return tuple(notes)
