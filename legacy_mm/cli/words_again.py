"""The words of a start, for a reload, which reads them again. Imported only where a port takes orders."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.cli.mirror_start import log_settings
from legacy_mm.cli.parser import read_own_options
from legacy_mm.connect.start_words import StartWords
from legacy_mm.logs.log4j_found import Found
from legacy_mm.logs.log_settings import LogSettings
from legacy_mm.words.options.option_catalogue import OwnOptions

Outcome = TypeVar("Outcome")


def start_words(
    own_words: Sequence[str], outcome: Callable[[OwnOptions], Outcome], log4j: Callable[[], Found]
) -> StartWords[Outcome]:
    """Return how our own words, what is mirrored, and the log4j file are read again."""
    problems = log4j().problems

    def logs(options: OwnOptions) -> LogSettings:
        file = log4j()
        for problem in file.problems:
            if problem not in problems:  # with those of the start it runs
                raise ConfigurationError(problem)
        return log_settings(file, options)

    return StartWords(lambda: read_own_options(own_words, os.environ), outcome, logs)
