#!/bin/sh
# The old command under its old name. The process keeps this script's PID, as it did with Java.
here=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd -P) || exit 1

if [ -f "$here/../setup.cfg" ]; then # a checkout; the symlink called java makes `ps` and `pgrep java` find us
    python=$here/../.venv/libexec/java
    [ -x "$python" ] || "$here/setup" >&2 || exit 1
elif [ -x "$here/../libexec/java" ] && [ -f "$here/../pyvenv.cfg" ]; then # a checkout's .venv/bin
    python=$here/../libexec/java
else # installed by pip
    python=$here/python
    [ -x "$python" ] || python=$here/python3
fi
if [ ! -x "$python" ]; then
    echo "kafka-mirror-maker.sh: no Python beside $here: install legacy-mm into a virtual environment" >&2
    exit 1
fi
# -P: a folder called legacy_mm or pyspark in the user's working directory must not shadow ours.
exec "$python" -P -m legacy_mm kafka.tools.MirrorMaker "$@"
