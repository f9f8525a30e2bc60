"""Property tests with many seeds."""

import functools
import inspect
from collections.abc import Callable


def with_seeds(rounds: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Calls a test with the seeds 0 to `rounds` - 1, all in one test, because pytest needs more time for
    a test than these tests for a seed. A failure shows the seed as an argument of the test."""

    def repeat(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def with_all_seeds(**fixtures: object) -> None:
            for seed in range(rounds):
                test(seed=seed, **fixtures)

        parameters = inspect.signature(test).parameters.values()
        with_all_seeds.__signature__ = inspect.Signature([each for each in parameters if each.name != "seed"])
        return with_all_seeds

    return repeat
