"""Every config in small: from a release as its makers give it out to the first training update, and to scores."""

import json
import os
from pathlib import Path

import pytest

from tests import releases
from tests.conftest import ROOT, run_command
