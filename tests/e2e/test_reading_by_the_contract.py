"""Schemathesis reads the contract of a real service by its URL; its requests keep or break the contract."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.systems.process import ROOT, program
from tests.support.time.waiting import eventually

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

DEFAULT = ROOT / "config" / "default.toml"
CONFIG = """
color = false
request-timeout = 40  # a request for changes may wait for 30 seconds

[generation]
max-examples = {examples}
allow-extra-parameters = false  # unknown parameters are ignored, so no request is wrong because of them

[phases.stateful.generation]
max-examples = 20  # many of these wait for changes that never come, for 30 seconds

[checks]
max_response_time = 40

[checks.positive_data_acceptance]
# Changes since an invented version are gone; any Accept-Encoding is valid, and some refuse all.
expected-statuses = ["2xx", "304", "406", "410"]

[checks.negative_data_rejection]
# A header that makes no sense is ignored, as RFC 9110 has it.
expected-statuses = ["400", "405", "406", "414", "431", "501"]

[[operations]]
# It says what could be asked of a path, whatever it names.
include-name-regex = "^OPTIONS .*[{]"
checks.negative_data_rejection.expected-statuses = ["2xx", "400", "404", "405", "406", "414", "431", "501"]

[[operations]]
# Of what a path names there may be nothing. Names in other letters may be too long for a target: that is
# counted in bytes, which no schema can say.
include-path-regex = "[{]"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "404", "406", "414"]
checks.negative_data_rejection.expected-statuses = ["400", "404", "405", "406", "414", "431", "501"]

[[operations]]
# Where nothing changes, each that waits takes 30 seconds.
# A label that no match has is an error, which no schema can say.
include-path = "/api/v2/changes"
generation.max-examples = 20
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "400", "406", "410"]

[[operations]]
# Of an id there may be nothing, and a time that begins after it ends is an error, which no schema can say.
include-path-regex = "^/api/v2/(lines|closing|movers|value/record)$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "400", "404", "406", "410"]

[[operations]]
# A time that begins after it ends is an error, which no schema can say.
include-path-regex = "^/api/v2/(fixtures|surebets|value)$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "304", "400", "406"]
"""
PROGRAM = Path(sys.executable).with_name("schemathesis")


def test_nothing_contradicts_the_contract(tmp_path: Path) -> None:
    """All checks pass on all paths except the stream, which never ends."""
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG.replace("{examples}", "100"))
    serve = ("serve", "--config", str(DEFAULT), "--bind", "127.0.0.1:0")
    with (
        program(*serve) as running,
        running.client() as client,
    ):
        eventually(lambda: client.get("/health/ready").status_code == 200, "odds are served")

        done = subprocess.run(
            [
                *(PROGRAM, "--config-file", config, "run", f"{running.base}/openapi.json"),
                *("--checks", "all", "--exclude-path", "/api/v2/stream"),
                *("--generation-database", "none", "--suppress-health-check", "all"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    cases = re.search(r"([0-9]+) generated, ([0-9]+) passed", done.stdout)
    assert 0 == done.returncode, done.stdout[-4000:] + done.stderr[-1000:]
    assert cases is not None
    assert cases[1] == cases[2]
    assert int(cases[1]) > 500
