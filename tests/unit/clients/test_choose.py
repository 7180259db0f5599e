"""Libraries whose modules import each other are imported before threads meet in them."""

from __future__ import annotations

import subprocess
import sys

AT_ONCE = """
import importlib, sys, threading
sys.setswitchinterval(1e-6)
from legacy_mm.clients import choose
choose.load_native()
names = ["groups", "admin", "access_rules", "inspector", "membership"]
together, failed = threading.Barrier(len(names)), []

def load(name):
    together.wait()
    try:
        importlib.import_module(f"legacy_mm.clients.native.{name}")
    except Exception as error:
        failed.append(repr(error))

threads = [threading.Thread(target=load, args=[name]) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(failed))
"""


def test_threads_find_our_clients_whole() -> None:
    """Without the first import three to six of these fail each time."""
    done = subprocess.run([sys.executable, "-P", "-c", AT_ONCE], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"
