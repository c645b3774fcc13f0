from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from benchprism.annotate.traffic.faults import Fault
from benchprism.annotate.traffic.pace import Halted, Pace, Unanswered
from benchprism.annotate.traffic.patience import Patience
from benchprism.records.errors import BudgetReached


def pace(concurrency: int, **patience: float) -> Pace:
    return Pace(concurrency, Patience(**patience), random.Random(1))  # type: ignore[arg-type]


def run(scene: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await asyncio.wait_for(scene(), 10)

    asyncio.run(main())


def now() -> float:
    return asyncio.get_running_loop().time()


async def most_at_once(shared: Pace, requests: int) -> int:
    """Let requests through and count how many were in flight together at most."""
    flying = most = 0

    async def one() -> None:
        nonlocal flying, most
        async with shared.turn():
            flying += 1
            most = max(most, flying)
            await asyncio.sleep(0)
            flying -= 1

    await asyncio.gather(*(one() for _ in range(requests)))
    return most


def test_no_more_than_the_concurrency_are_in_flight() -> None:
    async def scene() -> None:
        assert await most_at_once(pace(3), 20) == 3

    run(scene)


def test_a_refusal_halves_the_pace_and_answers_raise_it_again() -> None:
    async def scene() -> None:
        shared = pace(8)
        shared.refused(sent_at=now(), seconds=0.0, reason="429")
        assert await most_at_once(shared, 20) == 4
        for _ in range(60):
            shared.answered()
        assert await most_at_once(shared, 20) == 8

    run(scene)


def test_refusals_of_requests_that_were_in_flight_together_count_once() -> None:
    async def scene() -> None:
        shared = pace(8)
        sent_at = now()
        await asyncio.sleep(0.001)
        for _ in range(5):
            shared.refused(sent_at=sent_at, seconds=0.0, reason="429")
        assert await most_at_once(shared, 20) == 4

    run(scene)


def test_everyone_waits_as_long_as_the_endpoint_asks() -> None:
    async def scene() -> None:
        shared = pace(4)
        begin = now()
        shared.refused(sent_at=begin, seconds=0.05, reason="429")
        times = []

        async def one() -> None:
            async with shared.turn():
                times.append(now() - begin)

        await asyncio.gather(*(one() for _ in range(6)))
        assert min(times) >= 0.05

    run(scene)


def test_a_pause_that_is_too_long_ends_the_run() -> None:
    async def scene() -> None:
        with pytest.raises(BudgetReached, match="asked pause 86400 s"):
            pace(4).refused(sent_at=now(), seconds=86400, reason="429")

    run(scene)


def test_refusals_without_an_answer_in_between_are_bounded() -> None:
    async def scene() -> None:
        shared = pace(4, refusals=3, outage=0)
        for _ in range(3):
            shared.refused(sent_at=now(), seconds=0.0, reason="429")
        with pytest.raises(BudgetReached):
            shared.refused(sent_at=now(), seconds=0.0, reason="429")

    run(scene)


def test_refusals_are_borne_as_long_as_an_outage_is() -> None:
    async def scene() -> None:
        shared = pace(4, refusals=3, outage=60)
        for _ in range(9):
            shared.refused(sent_at=now(), seconds=0.0, reason="503")

    run(scene)


def test_an_outage_lets_one_through_and_ends_at_half_the_pace() -> None:
    async def scene() -> None:
        shared, fault = pace(8, first_wait=0.001, longest_wait=0.01), Fault("again", "HTTP 500")
        for request in (1, 2, 1, 2):
            shared.failed(request, fault, sent_at=now())
        assert await most_at_once(shared, 20) == 8
        with pytest.raises(Unanswered):
            shared.failed(3, fault, sent_at=now())
        assert await most_at_once(shared, 20) == 1
        shared.answered()
        assert await most_at_once(shared, 20) == 4

    run(scene)


def test_what_fails_while_others_are_answered_fails_by_itself() -> None:
    async def scene() -> None:
        shared, fault = pace(8), Fault("again", "HTTP 500")
        for request in range(9):
            shared.failed(request, fault, sent_at=now())
            shared.answered()
        for request in range(9):
            shared.failed(request, fault, sent_at=now())
        assert await most_at_once(shared, 20) == 8

    run(scene)


def test_a_halt_wakes_everyone_who_waits() -> None:
    async def scene() -> None:
        shared = pace(1)
        held = asyncio.Event()

        async def hold() -> str:
            async with shared.turn():
                await held.wait()
            return "finished"

        async def rest() -> str:
            await shared.rest(60)
            return "rested"

        tasks = [asyncio.create_task(task) for task in (hold(), hold(), rest())]
        await asyncio.sleep(0)
        shared.halt()
        held.set()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert ends[0] == "finished"
        assert [type(end) for end in ends[1:]] == [Halted, Halted]

    run(scene)


def test_waits_grow_with_chance_and_are_bounded() -> None:
    patience, rng = Patience(first_wait=1, longest_wait=8), random.Random(1)
    waits = [[patience.wait(attempt, rng) for _ in range(50)] for attempt in range(1, 8)]
    for attempt, drawn in enumerate(waits):
        most = min(2**attempt, 8)
        assert most / 2 <= min(drawn) < max(drawn) <= most
