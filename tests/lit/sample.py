"""A sample of golden tests, for builds in which each takes long."""

import os

import lit.formats

EVERY = 1 if "INGOT_SLOW" in os.environ else 3


class SampleTest(lit.formats.ShTest):
    """Golden tests of which some run: of each folder one in three, the first and the last among them."""

    def getTestsInDirectory(self, suite, path, lit_config, local):
        """Yield the first of every few tests of a folder, and its last."""
        tests = list(super().getTestsInDirectory(suite, path, lit_config, local))
        tests.sort(key=lambda t: t.path_in_suite)
        for i, test in enumerate(tests):
            if i % EVERY == 0 or i + 1 == len(tests):
                yield test
